-- compatible: a program that does not know metadata of refunds writes none.
alter table payments.refunds add column metadata jsonb not null default '[]';
