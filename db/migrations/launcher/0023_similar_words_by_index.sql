-- The operator reads a setting of pg_trgm, so it is stable and not immutable: a function that claimed more than its body
-- was never inlined, called for each record, and hid the operator from the indexes by letters.
alter function launcher.has_like_word(text, text) stable;
