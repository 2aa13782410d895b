import { CircleCheck, Pause, Plus, Store } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { Status } from '../../../design/parts/status.tsx'
import { type Column, Table } from '../../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../../shell/address.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { useRights } from '../../../shell/frame/rights.ts'
import { Page } from '../../../shell/page.tsx'
import { zones } from '../../../shell/parts/zones.ts'
import { useRead } from '../../../shell/read.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { ownZone } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { BrandListDocument, type BrandRowFragment, CreateBrandDocument } from './brands.generated.ts'
import { BrandPanel } from './panel.tsx'

/** Brands of the organization; one beside the list with its settings. */
export default function BrandsPage() {
  const [path, search] = [usePath(), useSearch()]
  const mayWrite = useRights().may('publishing:accounts.write')
  const id = /^\/brands\/([^/]+)$/.exec(path)?.[1]
  const isArchived = search.get('archived') === 'true'
  const [isNew, setNew] = useState(false)
  const { data, state, problem, retry } = useRead(
    BrandListDocument,
    { ...(isArchived && { archived: true }) },
    { isEmpty: ({ brands }) => brands?.nodes?.length === 0 },
  )
  const rows = (data?.brands?.nodes ?? []).flatMap(each => each ?? [])
  const create = mayWrite && (
    <Button kind="primary" icon={Plus} onPress={() => setNew(true)}>
      {say('brands.create')}
    </Button>
  )
  return (
    <Page title={say('brands.title')} actions={create}>
      <div className={id ? 'beside open' : 'beside'}>
        <div className="stack">
          <nav className="filters" aria-label={say('brands.title')}>
            {[false, true].map(each => (
              <Link
                key={String(each)}
                className={each === isArchived ? 'button chosen' : 'button'}
                aria-current={each === isArchived ? 'page' : undefined}
                to={withSearch('/brands', search, { archived: each ? 'true' : null })}
              >
                {say(each ? 'campaigns.archived' : 'campaigns.used')}
              </Link>
            ))}
          </nav>
          <Region
            isFlush
            state={state}
            problem={problem}
            retry={retry}
            empty={{ icon: Store, sentence: say(isArchived ? 'brands.empty-archived' : 'brands.empty'), action: !isArchived && create }}
          >
            <Table label={say('brands.title')} columns={columnsFor(search)} rows={rows} current={id} attributes={each => ({ 'data-brand': each.id })} />
          </Region>
        </div>
        {id && <BrandPanel key={id} id={id} back={withSearch('/brands', search, {})} mayWrite={mayWrite} reload={retry} />}
      </div>
      {isNew && <NewBrand onClose={() => setNew(false)} onDone={retry} />}
    </Page>
  )
}

const columnsFor = (search: URLSearchParams): readonly Column<BrandRowFragment>[] => [
  {
    id: 'name',
    heading: say('brands.name'),
    isMain: true,
    cell: ({ id, name }) => (
      <Link dir="auto" to={withSearch(`/brands/${id}`, search, {})}>
        {name}
      </Link>
    ),
  },
  { id: 'zone', heading: say('brands.zone'), cell: ({ timeZone }) => <span className="quiet">{timeZone}</span> },
  { id: 'approval', heading: say('filter.approval'), cell: ({ approvalMode }) => <span className="quiet">{say(`brands.approval-${approvalMode}`)}</span> },
  {
    id: 'state',
    isKept: true,
    heading: say('posts.status'),
    cell: ({ pausedAt }) => (
      <Status meaning={pausedAt ? 'warning' : 'positive'} icon={pausedAt ? Pause : CircleCheck}>
        {say(pausedAt ? 'brands.paused' : 'brands.runs')}
      </Status>
    ),
  },
]

function NewBrand({ onClose, onDone }: { onClose(): void; onDone(): void }) {
  const [{ error, fetching }, create] = useMutation(CreateBrandDocument)
  const [name, setName] = useState('')
  const [timeZone, setTimeZone] = useState(ownZone)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(error)
  async function save(event: FormEvent) {
    event.preventDefault()
    const { data } = await create({ input: { name: name.trim(), timeZone, idempotencyKey } })
    const made = data?.createBrand?.id
    if (!made) return
    onDone()
    onClose()
    goTo(`/brands/${made}`)
  }
  return (
    <Dialog title={say('brands.create')} onClose={onClose}>
      <form className="form" onSubmit={event => void save(event)}>
        <Field label={say('brands.name')} value={name} onChange={setName} wrong={problem?.field === 'name' ? problem.sentence : null} required />
        <Select label={say('brands.zone')} choices={zones(timeZone)} value={timeZone} onChange={setTimeZone} />
        {problem && problem.field !== 'name' && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
        <div className="actions">
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="primary" type="submit" isDisabled={name.trim() === '' || fetching}>
            {say('brands.create')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
