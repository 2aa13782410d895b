import { X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { goTo } from '../../../shell/address.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { zones } from '../../../shell/parts/zones.ts'
import { useRead } from '../../../shell/read.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { type ApprovalMode, BrandDetailDocument, type BrandDetailQuery, UpdateBrandDocument } from './brands.generated.ts'
import { type BrandDetail, BrandState } from './state.tsx'

const modes: readonly ApprovalMode[] = ['NONE', 'OPTIONAL', 'REQUIRED']

interface PanelProps {
  readonly id: string
  readonly back: string
  readonly mayWrite: boolean
  reload(): void
}

/** One brand: its settings, who approves, and whether it is in use. */
export function BrandPanel({ id, back, mayWrite, reload }: PanelProps) {
  const { data, state, problem, retry } = useRead(BrandDetailDocument, { id })
  const brand = data?.brand
  return (
    <Region
      className="panel"
      aria-label={say('brands.detail')}
      title={<h2 className="clip">{brand?.name ?? say('brands.detail')}</h2>}
      tools={<Button kind="quiet" icon={X} name={say('action.close')} onPress={() => goTo(back)} />}
      state={data && !brand ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {brand && data && (
        <>
          <Settings key={brand.version} brand={brand} members={peopleOf(data)} mayWrite={mayWrite && !brand.archivedAt} />
          {mayWrite && (
            <BrandState
              brand={brand}
              organizations={(data.memberships?.nodes ?? []).flatMap(each => each?.organization ?? [])}
              onDone={reload}
              onGone={() => {
                reload()
                goTo(back)
              }}
            />
          )}
        </>
      )}
    </Region>
  )
}

const peopleOf = ({ organizationMembers }: BrandDetailQuery) =>
  (organizationMembers?.nodes ?? []).flatMap(each => (each?.user && each.user.kind === 'HUMAN' ? [each.user] : []))

function Settings({ brand, members, mayWrite }: { readonly brand: BrandDetail; readonly members: ReturnType<typeof peopleOf>; readonly mayWrite: boolean }) {
  const [{ error, fetching }, update] = useMutation(UpdateBrandDocument)
  const [name, setName] = useState(brand.name)
  const [description, setDescription] = useState(brand.description ?? '')
  const [timeZone, setTimeZone] = useState(brand.timeZone)
  const [mode, setMode] = useState(brand.approvalMode)
  const [approvers, setApprovers] = useState<ReadonlySet<string>>(new Set((brand.approvers ?? []).flatMap(each => each?.id ?? [])))
  const problem = problemOf(error)
  const wrongAt = (field: string) => (problem?.field === field ? problem.sentence : null)
  async function save(event: FormEvent) {
    event.preventDefault()
    const { data } = await update({
      input: {
        id: brand.id,
        name: name.trim(),
        description: description.trim() || null,
        timeZone,
        approvalMode: mode,
        approverIds: [...approvers],
        expectedVersion: brand.version,
      },
    })
    if (data?.updateBrand) toast({ sentence: say('brands.saved') })
  }
  return (
    <form className="form" onSubmit={event => void save(event)}>
      <Field label={say('brands.name')} value={name} onChange={setName} wrong={wrongAt('name')} required readOnly={!mayWrite} />
      <Field label={say('campaigns.description')} value={description} onChange={setDescription} rows={2} wrong={wrongAt('description')} readOnly={!mayWrite} />
      {mayWrite ? (
        <>
          <Select label={say('brands.zone')} choices={zones(timeZone)} value={timeZone} onChange={setTimeZone} />
          <Select
            label={say('brands.approval')}
            choices={modes.map(id => ({ id, name: say(`brands.approval-${id}`) }))}
            value={mode}
            onChange={id => setMode(modes.find(each => each === id) ?? mode)}
          />
        </>
      ) : (
        <p className="quiet">
          {timeZone} · {say(`brands.approval-${mode}`)}
        </p>
      )}
      {mode !== 'NONE' && mayWrite && (
        <fieldset className="field">
          <legend>{say('brands.approvers')}</legend>
          <div className="toggles">
            {members.map(({ id, name: member }) => (
              <label key={id}>
                <input
                  type="checkbox"
                  checked={approvers.has(id)}
                  onChange={event => setApprovers(event.target.checked ? new Set([...approvers, id]) : approvers.difference(new Set([id])))}
                />
                {member}
              </label>
            ))}
          </div>
          <p className="hint">{say('brands.approvers-hint')}</p>
        </fieldset>
      )}
      {problem && !problem.field && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {mayWrite && (
        <div className="actions">
          <Button kind="primary" type="submit" isDisabled={fetching || name.trim() === ''}>
            {say('action.save')}
          </Button>
        </div>
      )}
    </form>
  )
}
