-- compatible: a program that does not know approvers decides as before, alone and without them.
alter table agents.approvals
  -- Who alone may decide; null: whoever has the scope.
  add column approver_ids text[],
  -- How many people have to approve the same arguments.
  add column required integer not null default 1 check (required between 1 and 5);
-- Whose decision it is that the link brings.
alter table agents.approval_links add column user_id uuid;
