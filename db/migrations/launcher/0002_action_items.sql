-- compatible: programs of before show no action items.
create table launcher.action_items (
  id uuid primary key,
  app text not null,
  key text not null,
  kind text not null,
  severity text not null check (severity in ('CRITICAL', 'HIGH', 'NORMAL', 'LOW')),
  status text not null check (status in ('OPEN', 'DONE', 'RESOLVED')),
  organization_id uuid,
  audience text not null check (audience in ('organization', 'managers', 'person')),
  user_id uuid,
  subject_id text not null,
  title text not null,
  body text,
  url text not null,
  due_at timestamptz(3),
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3),
  closed_by text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint one_item_a_key unique (app, key),
  constraint an_item_is_somebodys check (case audience when 'person' then user_id is not null else organization_id is not null end),
  constraint what_is_open_is_not_closed check ((status = 'OPEN') = (closed_at is null))
);
create index action_items_newest_first on launcher.action_items (organization_id, created_at desc, id desc) where status = 'OPEN';
create index action_items_of_person on launcher.action_items (user_id, created_at desc, id desc) where status = 'OPEN';
create index action_items_changed on launcher.action_items (organization_id, updated_at);
create index action_items_of_person_changed on launcher.action_items (user_id, updated_at);
create index action_items_by_age on launcher.action_items (closed_at) where closed_at is not null;

-- What an idempotency key has made, for the organization and the caller who sent it.
create table launcher.idempotency_keys (
  tenant_id uuid not null,
  caller text not null,
  what text not null,
  key text not null check (length(key) between 1 and 200),
  hash text not null,
  made_id uuid not null,
  at timestamptz(3) not null,
  primary key (tenant_id, caller, what, key)
);
create unique index a_key_makes_one_thing on launcher.idempotency_keys (tenant_id, what, key);
create index idempotency_keys_by_age on launcher.idempotency_keys (at);
