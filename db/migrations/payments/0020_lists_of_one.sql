-- compatible: a program of before reads the same lists, by the same indexes.
-- Lists of one merchant, or of one endpoint, name the organization too, and an index that begins with both is read in the list's order. By an
-- index of the merchant alone PostgreSQL takes the two for independent, expects next to no rows, and sorts all that there are.
create index orders_of_seller on payments.orders (organization_id, merchant_id, created_at, id);
create index invoices_of_seller on payments.invoices (organization_id, merchant_id, created_at, id);
create index webhook_deliveries_by_endpoint on payments.webhook_deliveries (organization_id, endpoint_id, created_at, id);
drop index payments.orders_of_merchant;
drop index payments.invoices_of_merchant;
-- webhook_deliveries_of_endpoint stays: jobs read by the endpoint alone, and its removal takes deliveries along.
