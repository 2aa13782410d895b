-- compatible: a program that does not know when digests are due sends none; what it changes of them counts from the next change on.
-- When the next digest is due, computed with each change and each digest; null for none.
alter table launcher.notification_preferences add column digest_at timestamptz(3);
-- Digests that are wanted already: the epoch has their first time computed.
update launcher.notification_preferences set digest_at = 'epoch' where digest->>'frequency' <> 'OFF';
create index notification_preferences_by_digest on launcher.notification_preferences (digest_at) where digest_at is not null;

-- Digests that people had sent, for as long as the same request may be repeated.
create table launcher.digests (
  id uuid primary key,
  user_id uuid not null,
  -- False when there was nothing to say.
  sent boolean not null,
  open_items integer not null,
  unread_notifications integer not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index digests_by_age on launcher.digests (created_at);
