-- compatible: null for replies of a program that does not know it, which answer the message before them.
-- Of a reply: the message that it answers. Several may be said at the same moment.
alter table agents.conversation_messages add column answers_id uuid;
