-- compatible: a program that does not know when digests are due sends none, and one that answers an invitation leaves its item to the next.
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

-- When the action item of an invitation is to be opened or closed; null for one that is closed.
alter table launcher.household_invitations add column settle_at timestamptz(3);
update launcher.household_invitations set settle_at = created_at where status = 'PENDING';
create index household_invitations_to_settle on launcher.household_invitations (settle_at) where settle_at is not null;
