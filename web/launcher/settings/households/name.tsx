import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../../design/parts/field.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { useDraft, useOnce } from '../../../shell/data/draft.ts'
import { FormDialog } from '../../../shell/parts/ask.tsx'
import { Stale } from '../../../shell/parts/stale.tsx'
import { say } from '../../../shell/words.ts'
import { CreateHouseholdDocument, type HouseholdCardFragment, RenameHouseholdDocument } from './households.generated.ts'
import { refusalOf } from './refusals.ts'

/** Asks for a household's name. @param household the one that gets another name; without it a new one is created */
export function NameDialog({ household, onClose, onDone }: { readonly household?: HouseholdCardFragment; onClose(): void; onDone(): void }) {
  const [created, create] = useMutation(CreateHouseholdDocument)
  const [renamed, rename] = useMutation(RenameHouseholdDocument)
  const [{ typed }, setDraft, forget] = useDraft(household ? `name.${household.id}` : 'household', { typed: household?.name ?? '' })
  const [isTried, setTried] = useState(false)
  // The version that was refused because another one was saved meanwhile; both names are shown once the other one is here.
  const [refused, setRefused] = useState<number | null>(null)
  const idempotencyKey = useOnce()
  const problem = refusalOf(created.error ?? renamed.error, { LIMIT: 'households.limit' })
  const name = typed.trim()
  const isStale = household !== undefined && refused !== null && refused !== household.version && name !== household.name && !renamed.fetching
  async function save() {
    setTried(true)
    if (name === '') return
    const answer = household
      ? await rename({ input: { id: household.id, name, expectedVersion: household.version } })
      : await create({ input: { name, idempotencyKey } })
    setRefused(household && refusalOf(answer.error, {})?.reason === 'STALE_VERSION' ? household.version : null)
    const isDone = answer.data && Object.values(answer.data)[0]
    // Somebody may have changed it meanwhile: the next try is about what it is now.
    onDone()
    if (!isDone) return
    forget()
    toast({ sentence: say(household ? 'households.renamed' : 'households.created', { name }) })
    onClose()
  }
  const verb = say(household ? 'households.rename' : 'households.create')
  return (
    <FormDialog
      title={verb}
      verb={verb}
      isBusy={created.fetching || renamed.fetching || isStale}
      problem={isStale ? null : problem}
      fields={['name']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field
        label={say('households.name')}
        value={typed}
        onChange={value => setDraft({ typed: value })}
        hint={household ? undefined : say('households.name-hint')}
        wrong={isTried && name === '' ? say('form.required') : problem?.field === 'name' ? problem.sentence : null}
        required
      />
      {isStale && (
        <Stale
          differences={[{ name: say('households.name'), mine: name, theirs: household.name }]}
          isBusy={renamed.fetching}
          onKeep={() => void save()}
          onTake={() => {
            forget()
            onClose()
          }}
        />
      )}
    </FormDialog>
  )
}
