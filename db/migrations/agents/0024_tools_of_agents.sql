-- compatible: null for steps and replies that call no tools, and a program that does not know such steps begins none.
alter table agents.run_steps
  drop constraint run_steps_phase_check,
  add constraint run_steps_phase_check check (phase in ('GATE', 'POLICY', 'CALL', 'TOOLS')),
  -- Of a step that asks a model: what it said and which tools it called, round by round, with what came of them.
  add column rounds jsonb;
