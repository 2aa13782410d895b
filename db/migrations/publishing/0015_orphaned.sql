-- compatible: programs of before use such connections as they did.
-- Whether the person who authorized it has left the organization.
alter table publishing.connections add column orphaned boolean not null default false;
