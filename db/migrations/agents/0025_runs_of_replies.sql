-- compatible: null for replies that call no tools, and for people's messages.
-- The run that writes a reply.
alter table agents.conversation_messages add column run_id uuid;
create index conversation_messages_of_run on agents.conversation_messages (run_id) where run_id is not null;
