-- compatible: a program that does not know these columns and tables neither reads nor writes them.
-- Whom an item is assigned to; who sees it, as one text; and how urgent it is, as a number to sort by.
alter table launcher.action_items
  add column assignee_id uuid,
  add column audience_key text not null generated always as (
    coalesce(organization_id::text, 'personal') || '.' || audience || case audience when 'person' then '.' || user_id::text else '' end) stored,
  add column urgency smallint not null generated always as (
    case severity when 'CRITICAL' then 4 when 'HIGH' then 3 when 'NORMAL' then 2 when 'LOW' then 1 end) stored;
create index action_items_open on launcher.action_items (audience_key, urgency desc, opened_at desc, id desc) where status = 'OPEN';
create index action_items_closed on launcher.action_items (audience_key, urgency desc, opened_at desc, id desc) where status <> 'OPEN';
create index action_items_of_assignee on launcher.action_items (assignee_id) where assignee_id is not null;
drop index launcher.action_items_newest_first;
drop index launcher.action_items_of_person;

-- Items that one person does not want to see before a moment.
create table launcher.action_item_snoozes (
  user_id uuid not null,
  item_id uuid not null references launcher.action_items (id) on delete cascade,
  until timestamptz(3) not null,
  -- When the item came back, at its time or earlier.
  woken_at timestamptz(3),
  updated_at timestamptz(3) not null,
  primary key (user_id, item_id)
);
create index action_item_snoozes_of_item on launcher.action_item_snoozes (item_id);
create index action_item_snoozes_due on launcher.action_item_snoozes (until) where woken_at is null;
create index action_item_snoozes_by_age on launcher.action_item_snoozes (woken_at) where woken_at is not null;
create index action_item_snoozes_changed on launcher.action_item_snoozes (user_id, updated_at);

-- What people are told: each person's own.
create table launcher.notifications (
  id uuid primary key,
  user_id uuid not null,
  -- Null in personal context.
  organization_id uuid,
  app text not null,
  kind text not null,
  title text not null,
  body text,
  url text,
  severity text not null check (severity in ('CRITICAL', 'HIGH', 'NORMAL', 'LOW')),
  -- What it is about: an unread one of the same app and scope is replaced and counted; null: never.
  scope text check (length(scope) <= 120),
  count integer not null default 1,
  read_at timestamptz(3),
  archived_at timestamptz(3),
  version integer not null default 1,
  -- When the latest of those that it counts came.
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  owner_key text not null generated always as (coalesce(organization_id::text, 'personal') || '.' || user_id::text) stored
);
create index notifications_present on launcher.notifications (owner_key, created_at desc, id desc) where archived_at is null;
create index notifications_archived on launcher.notifications (owner_key, created_at desc, id desc) where archived_at is not null;
create index notifications_unread on launcher.notifications (owner_key, created_at desc, id desc) where read_at is null and archived_at is null;
create index notifications_of_scope on launcher.notifications (owner_key, app, scope) where read_at is null and archived_at is null and scope is not null;
create index notifications_read_by_age on launcher.notifications (read_at) where read_at is not null;
create index notifications_by_age on launcher.notifications (created_at);

-- What people are about to be told: kept until each of them has a notification.
create table launcher.notices (
  id uuid primary key,
  organization_id uuid,
  audience text not null check (audience in ('organization', 'managers', 'person')),
  user_id uuid,
  app text not null,
  kind text not null,
  title text not null,
  body text,
  url text,
  severity text not null check (severity in ('CRITICAL', 'HIGH', 'NORMAL', 'LOW')),
  scope text check (length(scope) <= 120),
  created_at timestamptz(3) not null,
  constraint a_notice_is_somebodys check (case audience when 'person' then user_id is not null else organization_id is not null end)
);
create index notices_by_age on launcher.notices (created_at, id);

-- How a person wants to be told, in every context.
create table launcher.notification_preferences (
  id uuid primary key,
  user_id uuid not null unique,
  time_zone text not null,
  quiet_from text check (quiet_from ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  quiet_to text check (quiet_to ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
  digest jsonb not null,
  rules jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint quiet_hours_have_both_ends check ((quiet_from is null) = (quiet_to is null))
);
