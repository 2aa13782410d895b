-- compatible: programs of before enter services that people open, and know of no conflicts.
-- Whether people open a service, what it can do besides, and its apps for phones.
alter table identity.service_entries
  add column kind text not null default 'application' check (kind in ('application', 'technical')),
  add column capabilities text[] not null default '{}',
  add column mobile_apps jsonb not null default '[]';

-- Services that could not be registered: one row as long as it is so, and since when for the same reason.
create table identity.service_conflicts (
  environment text not null,
  slug text not null,
  reason text not null,
  since timestamptz(3) not null,
  primary key (environment, slug)
);
