-- compatible: a program of before makes the first merchant of an organization alone, which has the prefix INV.
alter table payments.merchants
  add column legal_name text,
  add column country text check (country ~ '^[A-Z]{2}$'),
  add column status text not null default 'ACTIVE' check (status in ('ACTIVE', 'SUSPENDED')),
  add column invoice_prefix text not null default 'INV' check (invoice_prefix ~ '^[A-Z0-9]{1,10}$'),
  add column tax_id text,
  add column support_email text;
update payments.merchants m set invoice_prefix = 'INV' || n.place
  from (select id, row_number() over (partition by organization_id order by created_at, id) as place from payments.merchants) n
 where n.id = m.id and n.place > 1;
create unique index one_merchant_a_prefix on payments.merchants (organization_id, invoice_prefix);
create index merchants_by_status on payments.merchants (organization_id, status, created_at, id);
