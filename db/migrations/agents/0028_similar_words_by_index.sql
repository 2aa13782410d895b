-- The operator reads a setting of pg_trgm, so it is stable and not immutable: a function that claimed more than its body
-- was never inlined, called for each passage, and hid the operator from the index by parts.
alter function agents.has_like_word(text, text) stable;
