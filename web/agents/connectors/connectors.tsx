import { Plug, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { Listing } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { type ConnectorRowFragment, ConnectorsDocument } from './connectors.generated.ts'
import { ConnectorPanel } from './detail.tsx'
import { ConnectorForm } from './form.tsx'
import { ConnectorState } from './state.tsx'

/** Servers whose tools steps and agents call; the one that the path names is open beside them, with its tools. */
export default function Connectors() {
  const mayWrite = useRights().may('agents:agents.write')
  const [asks, setAsks] = useState(false)
  const create = mayWrite && (
    <Button kind="primary" icon={Plus} onPress={() => setAsks(true)}>
      {say('connectors.create')}
    </Button>
  )
  return (
    <Page title={say('connectors.title')} actions={create}>
      <Guard need="agents:agents.read">
        <List asks={asks && mayWrite} onClose={() => setAsks(false)} />
      </Guard>
    </Page>
  )
}

function List({ asks, onClose }: { readonly asks: boolean; onClose(): void }) {
  const id = /^\/connectors\/([^/]+)$/.exec(usePath())?.[1]
  const { data, state, problem, retry } = useRead(ConnectorsDocument, {}, { isEmpty: ({ connectors }) => connectors?.length === 0 })
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Listing
          label={say('connectors.title')}
          path="/connectors"
          columns={columns()}
          rows={data?.connectors ?? []}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          attributes={each => ({ 'data-connector': each.id })}
          empty={{ icon: Plug, sentence: say('connectors.empty') }}
        />
      </div>
      {id && <ConnectorPanel key={id} id={id} reload={retry} />}
      {asks && <ConnectorForm connector={null} reload={retry} onClose={onClose} />}
    </div>
  )
}

const columns = (): readonly Column<ConnectorRowFragment>[] => [
  { id: 'name', heading: say('connectors.one'), isMain: true, cell: ({ id, name }) => <Link to={`/connectors/${id}`}>{name}</Link> },
  { id: 'kind', heading: say('connectors.kind'), cell: ({ kind }) => sayIfKnown(`connector-kind.${kind}`, kind) },
  { id: 'status', isKept: true, heading: say('workflows.status'), cell: ({ status }) => <ConnectorState status={status} /> },
  {
    id: 'checked',
    heading: say('connectors.checked'),
    cell: ({ checkedAt }) =>
      checkedAt ? (
        <time className="quiet" dateTime={checkedAt}>
          {lately(checkedAt)}
        </time>
      ) : (
        '–'
      ),
  },
]
