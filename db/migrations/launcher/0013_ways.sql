-- compatible: a program that does not know these tables and columns notifies people in the app alone.
-- The item that a notice is about, which is listed already; null for news, which become notifications.
alter table launcher.notices
  add column item_id uuid,
  -- Whether it comes in the app alone: an item says the same.
  add column is_in_app_only boolean not null default false;

-- Browsers of people that take push messages.
create table launcher.push_subscriptions (
  id uuid primary key,
  user_id uuid not null,
  -- Of endpoint and keys: a browser that another person signs in with is that person's from then on.
  hash text not null unique,
  -- Endpoint and keys, encrypted.
  sealed text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index push_subscriptions_of_person on launcher.push_subscriptions (user_id, created_at, id);

-- What one person has yet to be told by one way: a mail, or a push message to one browser.
create table launcher.messages (
  id uuid primary key,
  way text not null check (way in ('MAIL', 'PUSH')),
  user_id uuid not null,
  organization_id uuid,
  -- Whose turn it is: messages of one party leave no faster than those of others.
  party uuid not null generated always as (coalesce(organization_id, user_id)) stored,
  audience text not null check (audience in ('organization', 'managers', 'person')),
  subscription_id uuid references launcher.push_subscriptions (id) on delete cascade,
  item_id uuid,
  notification_id uuid,
  app text not null,
  kind text not null,
  title text not null,
  body text,
  url text,
  severity text not null check (severity in ('CRITICAL', 'HIGH', 'NORMAL', 'LOW')),
  -- The end of the quiet hours that it came in: what waits for it leaves as one mail. Null: it leaves at once.
  quiet_until timestamptz(3),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  constraint a_push_message_is_for_a_browser check ((way = 'PUSH') = (subscription_id is not null)),
  constraint push_messages_do_not_wait check (way = 'MAIL' or quiet_until is null)
);
create index messages_by_turn on launcher.messages (way, party, next_attempt_at);
create index messages_next on launcher.messages (way, next_attempt_at);
create index messages_of_person on launcher.messages (user_id, organization_id);
create index messages_of_subscription on launcher.messages (subscription_id) where subscription_id is not null;
create index messages_by_age on launcher.messages (created_at);

-- Mails of one organization leave no faster than those of others.
create index mails_by_organization on launcher.mails (coalesce(organization_id, '00000000-0000-0000-0000-000000000000'), next_attempt_at)
  where next_attempt_at is not null;

-- Messages of the notification service that were taken: each counts once.
create table launcher.service_messages (
  id text primary key check (length(id) between 1 and 300),
  at timestamptz(3) not null
);
create index service_messages_by_age on launcher.service_messages (at);
