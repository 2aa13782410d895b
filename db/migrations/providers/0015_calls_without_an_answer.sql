-- compatible: a program of before leaves the columns as they begin, and what stays held then is freed by a program of this version.
-- What stays held for a call that has ended, because a provider that never answered may still charge it: as held, until when.
alter table providers.calls
  add column pending jsonb not null default '[]',
  add column pending_until timestamptz(3),
  add constraint what_is_pending_ends check ((pending = '[]') = (pending_until is null));
create index calls_that_may_cost_more on providers.calls (pending_until) where pending_until is not null;
