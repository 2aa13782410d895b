import { Library, Plus } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { KnowledgePanel } from './detail.tsx'
import { SourceForm } from './form.tsx'
import { type KnowledgeRowFragment, KnowledgeSourcesDocument, type KnowledgeStatus, type KnowledgeVisibility } from './knowledge.generated.ts'
import { Hits } from './search.tsx'
import { KnowledgeState } from './state.tsx'

/** Texts and pages that agents answer from. A question finds their passages; the source that the path names is open beside the list. */
export default function Knowledge() {
  const search = useSearch()
  const mayWrite = useRights().may('agents:knowledge.write')
  const create = mayWrite && (
    <Button kind="primary" icon={Plus} onPress={() => goTo(withSearch('/knowledge', search, { new: 'source' }))}>
      {say('knowledge.create')}
    </Button>
  )
  return (
    <Page title={say('knowledge.title')} actions={create}>
      <Guard need="agents:knowledge.read">
        <List mayWrite={mayWrite} />
      </Guard>
    </Page>
  )
}

function List({ mayWrite }: { readonly mayWrite: boolean }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/knowledge\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status, visibility } = chosenOf(search, offered)
  const question = search.get('q')?.trim() ?? ''
  const variables = {
    ...pageOf(search),
    ...(status && { status: status as KnowledgeStatus }),
    ...(visibility && { visibility: visibility as KnowledgeVisibility }),
  }
  const { data, state, problem, retry } = useRead(KnowledgeSourcesDocument, variables, {
    isEmpty: ({ knowledgeSources }) => knowledgeSources?.nodes?.length === 0,
  })
  const rows = (data?.knowledgeSources?.nodes ?? []).filter(each => each !== null)
  const isFiltered = Boolean(status || visibility)
  const ask = (isOpen: boolean) => goTo(withSearch('/knowledge', search, { new: isOpen ? 'source' : null }))
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/knowledge" search={search} pills={offered} text={{ name: 'q', heading: say('knowledge.question') }} />
        {question && <Hits question={question} />}
        <Listing
          label={say('knowledge.title')}
          path="/knowledge"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.knowledgeSources?.pageInfo}
          total={data?.knowledgeSources?.totalCount}
          attributes={each => ({ 'data-source': each.id })}
          empty={{
            icon: Library,
            sentence: say(isFiltered ? 'knowledge.nothing' : 'knowledge.empty'),
            action: !isFiltered && mayWrite && <Button onPress={() => ask(true)}>{say('knowledge.create')}</Button>,
          }}
        />
      </div>
      {id && <KnowledgePanel key={id} id={id} back={withSearch('/knowledge', search, {})} reload={retry} />}
      {search.get('new') === 'source' && mayWrite && <SourceForm source={null} reload={retry} onClose={() => ask(false)} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' | 'visibility' })[] => [
  { name: 'status', heading: say('workflows.status'), values: ['PENDING', 'INDEXING', 'READY', 'FAILED'], title: value => say(`knowledge.${value}`) },
  { name: 'visibility', heading: say('knowledge.for'), values: ['ORGANIZATION', 'PUBLIC'], title: value => say(`knowledge-for.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<KnowledgeRowFragment>[] => [
  {
    id: 'title',
    heading: say('knowledge.one'),
    isMain: true,
    cell: ({ id, title }) => <Link to={withSearch(`/knowledge/${id}`, search, { new: null })}>{title}</Link>,
  },
  { id: 'kind', heading: say('knowledge.kind'), cell: ({ kind }) => say(`knowledge-kind.${kind}`) },
  { id: 'for', heading: say('knowledge.for'), cell: ({ visibility }) => say(`knowledge-for.${visibility}`) },
  { id: 'status', isKept: true, heading: say('workflows.status'), cell: ({ status }) => <KnowledgeState status={status} /> },
  {
    id: 'at',
    heading: say('workflows.changed-at'),
    cell: ({ updatedAt }) => (
      <time className="quiet" dateTime={updatedAt}>
        {lately(updatedAt)}
      </time>
    ),
  },
]
