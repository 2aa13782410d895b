-- compatible: a program that knows one application a network writes none, and what stands there it has no eyes for.
-- Organizations may have applications of their own at a network: what one of these signs is meant of accounts connected with it. Null: of everybody's.
alter table publishing.signed_requests add column organization_ids text[];
