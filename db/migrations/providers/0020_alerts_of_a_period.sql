-- compatible: a program of before finds what it looks for by this index too.
-- Limits whose managers see an alert, too: it goes when its period is over.
create index spend_limits_with_alerts_that_wait on providers.spend_limits (id) where attention is not null or alerts <> '[]' or not is_counted;
drop index providers.spend_limits_that_wait;
