-- compatible: programs of before open sessions in their organization, renew them by themselves, and note no activity.
alter table identity.sessions
  -- Personal by the person's own choice, for this session: they may well have memberships.
  add column context text not null default 'organization' check (context in ('personal', 'organization')),
  -- Null: not since it began. Written at most once a minute.
  add column last_active_at timestamptz(3),
  -- Whether use makes it last longer: not where it ends with its token, nor where somebody else says how long it lasts.
  add column renews boolean not null default true;
