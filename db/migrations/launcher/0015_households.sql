-- compatible: a program that does not know households shows none.
-- People who belong together, in personal context alone.
create table launcher.households (
  id uuid primary key,
  name text not null check (length(name) between 1 and 80),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);

create table launcher.household_members (
  household_id uuid not null references launcher.households (id) on delete cascade,
  user_id uuid not null,
  -- As identity calls the person: it shows people only to those who share an organization with them.
  name text not null,
  role text not null check (role in ('OWNER', 'ADULT', 'CHILD')),
  -- Whether the person has chosen this household: the choice ends with the membership.
  selected boolean not null default false,
  joined_at timestamptz(3) not null,
  primary key (household_id, user_id)
);
create index households_of_person on launcher.household_members (user_id, joined_at, household_id);
create unique index one_selected_household on launcher.household_members (user_id) where selected;

create table launcher.household_invitations (
  id uuid primary key,
  household_id uuid not null references launcher.households (id) on delete cascade,
  household_name text not null,
  email text not null,
  role text not null check (role in ('OWNER', 'ADULT', 'CHILD')),
  status text not null check (status in ('PENDING', 'ACCEPTED', 'DECLINED')),
  expires_at timestamptz(3) not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index household_invitations_of_household on launcher.household_invitations (household_id, created_at, id);
create index household_invitations_by_address on launcher.household_invitations (email, created_at, id) where status = 'PENDING';
create index household_invitations_by_end on launcher.household_invitations (expires_at);
