-- compatible: a program that does not know launches and workflows neither writes nor shows them.
-- Launches of a person in a context. The code of a launch is kept as its hash alone, to tell whether a link is one of ours.
create table launcher.launches (
  id uuid primary key,
  user_id uuid not null,
  -- Null in personal context.
  organization_id uuid,
  app text not null,
  title text not null,
  status text not null check (status in ('READY', 'OPENED', 'FAILED')),
  source text not null check (source in ('WIDGET', 'CATALOGUE', 'SWITCHER', 'ACTION', 'WORKFLOW')),
  platform text not null check (platform in ('WEB', 'IOS', 'ANDROID')),
  -- The service that the code is for; null where there is no code.
  service_id uuid,
  code_hash text,
  expires_at timestamptz(3),
  failure_code text,
  failure_message text check (length(failure_message) between 1 and 500),
  retryable boolean,
  retry_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint a_failed_launch_says_why check ((status = 'FAILED') = (failure_code is not null and failure_message is not null and retryable is not null)),
  constraint a_code_is_for_a_service check ((code_hash is null) = (service_id is null))
);
create index launches_newest_first on launcher.launches (user_id, created_at desc, id desc);
create index launches_by_age on launcher.launches (created_at);
create unique index launches_by_code on launcher.launches (code_hash) where code_hash is not null;

-- Saved sequences of steps: a person's own in a context, or shared within an organization.
create table launcher.workflows (
  id uuid primary key,
  organization_id uuid,
  -- Null for one that a key or a service made, which is shared.
  user_id uuid,
  name text not null check (length(name) between 1 and 200),
  shared boolean not null,
  steps jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint a_workflow_is_somebodys check (user_id is not null or shared),
  constraint people_share_in_an_organization check (not shared or organization_id is not null)
);
create index workflows_of_person on launcher.workflows (user_id, created_at desc, id desc);
create index workflows_of_organization on launcher.workflows (organization_id, created_at desc, id desc) where shared;
