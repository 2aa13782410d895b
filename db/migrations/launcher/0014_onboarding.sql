-- compatible: a program that does not know onboardings takes nobody there.
-- Onboardings that organizations have completed; the id is the organization's.
create table launcher.organization_onboardings (
  id uuid primary key,
  completed_at timestamptz(3) not null,
  apps text[] not null,
  team_size integer check (team_size > 0),
  use_case text check (length(use_case) between 1 and 500),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
