import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { zones } from '../../shell/parts/zones.ts'
import { say } from '../../shell/words.ts'
import type { WorkflowRowFragment, WorkflowTriggerInput, WorkflowTriggerKind } from './workflows.generated.ts'

const kinds: readonly WorkflowTriggerKind[] = ['MANUAL', 'SCHEDULE', 'EVENT', 'WEBHOOK']
/** Facts that may begin a run. */
const events = ['order.paid', 'post.published', 'post.failed', 'run.failed', 'task.created'] as const
/** Every weekday at nine. */
const firstCron = '0 9 * * 1-5'

/** State of the trigger's form: fields of the other kinds stay filled while the kind changes. */
export interface TriggerDraft {
  readonly kind: WorkflowTriggerKind
  readonly event: string
  readonly cron: string
  readonly timeZone: string
  readonly signed: boolean
}

/** The trigger of a workflow as the form writes it; a new schedule begins with the person's own time zone. */
export const triggerDraft = (trigger: WorkflowRowFragment['trigger']): TriggerDraft => ({
  kind: trigger?.kind ?? 'MANUAL',
  event: trigger?.event ?? events[0],
  cron: trigger?.cron ?? firstCron,
  timeZone: trigger?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  signed: trigger?.signed ?? true,
})

/** A trigger as the graph takes it, with the fields of its kind alone. */
export const triggerInput = ({ kind, event, cron, timeZone, signed }: TriggerDraft): WorkflowTriggerInput => ({
  kind,
  ...(kind === 'EVENT' && { event }),
  ...(kind === 'SCHEDULE' && { cron: cron.trim(), timeZone }),
  ...(kind === 'WEBHOOK' && { signed }),
})

/** What begins the runs of a workflow, as a sentence has it. */
export function triggerText(trigger: WorkflowRowFragment['trigger']): string {
  if (!trigger) return '–'
  if (trigger.kind === 'EVENT') return say('workflows.on-event', { event: trigger.event ?? '' })
  if (trigger.kind === 'SCHEDULE') return say('workflows.on-schedule', { cron: trigger.cron ?? '', zone: trigger.timeZone ?? 'UTC' })
  return say(`trigger.${trigger.kind}`)
}

/** Chooses what begins runs. @param wrong what is wrong at a field of the trigger, by its name in the graph */
export function TriggerFields({
  of,
  wrong,
  onChange,
}: {
  readonly of: TriggerDraft
  wrong(field: string): string | null
  onChange(draft: TriggerDraft): void
}) {
  const set = (changes: Partial<TriggerDraft>) => onChange({ ...of, ...changes })
  return (
    <>
      <Select
        label={say('workflows.begins')}
        choices={kinds.map(id => ({ id, name: say(`trigger.${id}`) }))}
        value={of.kind}
        onChange={id => set({ kind: id as WorkflowTriggerKind })}
      />
      {of.kind === 'EVENT' && (
        <Select
          label={say('workflows.event')}
          choices={events.map(id => ({ id, name: say(`event.${id}`) }))}
          value={of.event}
          onChange={event => set({ event })}
        />
      )}
      {of.kind === 'SCHEDULE' && (
        <>
          <Field
            label={say('workflows.cron')}
            value={of.cron}
            onChange={cron => set({ cron })}
            hint={say('workflows.cron-hint', { example: firstCron })}
            wrong={wrong('trigger.cron')}
          />
          <Select label={say('workflows.zone')} choices={zones(of.timeZone)} value={of.timeZone} onChange={timeZone => set({ timeZone })} />
          {wrong('trigger.timeZone') && <p className="wrong small">{wrong('trigger.timeZone')}</p>}
        </>
      )}
      {of.kind === 'WEBHOOK' && (
        <div className="choices">
          <label>
            <input type="checkbox" checked={of.signed} onChange={({ target }) => set({ signed: target.checked })} />
            {say('workflows.signed')}
          </label>
          <p className="hint small quiet">{say('workflows.signed-hint')}</p>
        </div>
      )}
    </>
  )
}
