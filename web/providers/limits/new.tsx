import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FrameDocument } from '../../shell/frame/frame.generated.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { dollars, microsOf } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { families } from '../names.ts'
import { CreateLimitDocument, HardLimitOptionsDocument, type SpendPeriod, type SpendScopeType } from './limits.generated.ts'

const scopes: readonly SpendScopeType[] = ['ORGANIZATION', 'APP', 'USER', 'PROVIDER_FAMILY', 'MODEL']
const periods: readonly SpendPeriod[] = ['DAY', 'MONTH', 'TOTAL']

/** Sets a limit for the organization. The hard limit is offered where the graph lets this person set one. */
export function CreateLimit({ onClose }: { onClose(): void }) {
  const once = useOnce()
  const { data: frame } = useRead(FrameDocument, {})
  const { data: options } = useRead(HardLimitOptionsDocument, {})
  const [{ error, fetching }, create] = useMutation(CreateLimitDocument)
  const [scopeType, setScopeType] = useState<SpendScopeType>('ORGANIZATION')
  const [value, setValue] = useState('')
  const [period, setPeriod] = useState<SpendPeriod>('MONTH')
  const [soft, setSoft] = useState('')
  const [hard, setHard] = useState('')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const option = options?.hardLimitOptions?.find(each => each.scopeType === scopeType && each.periods.includes(period) && each.levels.includes('ORGANIZATION'))
  const scopeValue = scopeType === 'ORGANIZATION' ? (frame?.viewer?.organization?.id ?? '') : scopeType === 'PROVIDER_FAMILY' ? value || 'AI' : value.trim()
  const wrongAmount = (text: string) => text.trim() !== '' && microsOf(text) === null
  const isNothing = soft.trim() === '' && hard.trim() === ''
  async function save() {
    setTried(true)
    if (scopeValue === '' || wrongAmount(soft) || wrongAmount(hard) || isNothing) return
    const input = {
      scopeType,
      scopeValue,
      period,
      ...(soft.trim() && { softLimitMicros: microsOf(soft) }),
      ...(option && hard.trim() && { hardLimitMicros: microsOf(hard) }),
      idempotencyKey: once,
    }
    const { data } = await create({ input })
    if (!data?.createSpendLimit) return
    toast({ sentence: say('limits.added') })
    onClose()
    goTo(`/limits/${data.createSpendLimit.id}`)
  }
  const amount = (text: string, field: string) =>
    problem?.field === field
      ? problem.sentence
      : isTried && wrongAmount(text)
        ? say('limits.no-amount')
        : isTried && isNothing
          ? say('limits.one-amount')
          : null
  return (
    <FormDialog
      title={say('limits.add')}
      verb={say('limits.add')}
      isBusy={fetching}
      problem={problem}
      fields={['scopeValue', 'softLimitMicros', 'hardLimitMicros']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Select
        label={say('limits.scope')}
        value={scopeType}
        onChange={id => {
          setScopeType(id as SpendScopeType)
          setValue('')
        }}
        choices={scopes.map(id => ({ id, name: say(`scope.${id}`) }))}
      />
      {scopeType === 'PROVIDER_FAMILY' ? (
        <Select label={say('family.heading')} value={value || 'AI'} onChange={setValue} choices={families.map(id => ({ id, name: say(`family.${id}`) }))} />
      ) : (
        scopeType !== 'ORGANIZATION' && (
          <Field
            label={say(`scope-value.${scopeType}`)}
            value={value}
            onChange={setValue}
            wrong={problem?.field === 'scopeValue' ? problem.sentence : isTried && value.trim() === '' ? say('form.required') : null}
          />
        )
      )}
      <Select
        label={say('limits.period')}
        value={period}
        onChange={id => setPeriod(id as SpendPeriod)}
        choices={periods.map(id => ({ id, name: say(`period.${id}`) }))}
      />
      <Field
        label={say('limits.soft-dollars')}
        inputMode="decimal"
        value={soft}
        onChange={setSoft}
        hint={say('limits.soft-hint')}
        wrong={amount(soft, 'softLimitMicros')}
      />
      {option && (
        <Field
          label={say('limits.hard-dollars')}
          inputMode="decimal"
          value={hard}
          onChange={setHard}
          hint={say('limits.hard-range', { min: dollars(option.minMicros), max: dollars(option.maxMicros) })}
          wrong={amount(hard, 'hardLimitMicros')}
        />
      )}
    </FormDialog>
  )
}
