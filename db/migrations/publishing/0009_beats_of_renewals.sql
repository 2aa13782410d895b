-- compatible: a program that counts no beats leaves 0, and is given the whole time of its claim.
-- Whoever renews a connection's token counts while the network thinks, so that others see when that worker died.
alter table publishing.connections
  add column renewal_beats integer not null default 0,
  add constraint beats_are_counted_up check (renewal_beats >= 0);
