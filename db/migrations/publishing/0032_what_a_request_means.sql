-- compatible: a program that does not know the column leaves it empty, and means what stood here when the request came.
-- What was connected later is not meant by a request that a network had signed before.
alter table publishing.signed_requests add column meant_until timestamptz(3);
