-- compatible: a program that does not know these sessions opens none.
create table payments.payment_method_sessions (
  customer_id uuid not null,
  -- Also the key of its call to the processor.
  id uuid not null,
  organization_id uuid not null,
  status text not null default 'OPEN' check (status in ('OPEN', 'COMPLETED', 'EXPIRED')),
  success_url text not null,
  cancel_url text not null,
  -- What the processor calls it, and where it shows the page; null until it has answered.
  processor_id text,
  url text,
  -- The method that came of it; null where none did, or the customer was erased meanwhile.
  payment_method_id uuid,
  expires_at timestamptz(3) not null,
  -- When it is looked at the processor next; null once nothing more can come of it.
  next_look_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (customer_id, id)
);
create index payment_method_sessions_by_id on payments.payment_method_sessions (id);
create index payment_method_sessions_at_processor on payments.payment_method_sessions (processor_id) where processor_id is not null;
create index payment_method_sessions_by_turn on payments.payment_method_sessions (next_look_at) where next_look_at is not null;
