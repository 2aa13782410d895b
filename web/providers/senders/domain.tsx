import { CircleAlert, CircleCheck, Clock, type LucideIcon, OctagonX, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { type Meaning, Status } from '../../design/parts/status.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Copyable } from '../../shell/parts/secret.tsx'
import { Failure, Region } from '../../shell/region.tsx'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type DomainCardFragment, RemoveDomainDocument, VerifyDomainDocument } from './senders.generated.ts'

const looks: Readonly<Record<DomainCardFragment['status'], readonly [Meaning, LucideIcon]>> = {
  PENDING: ['info', Clock],
  VERIFIED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  SUSPENDED: ['danger', OctagonX],
}
const recordLooks = { MISSING: ['warning', Clock], WRONG: ['danger', CircleAlert], FOUND: ['positive', CircleCheck] } as const

/** A domain with the records that its DNS needs, each to be copied, and how each stands. */
export function Domain({ domain, reload }: { readonly domain: DomainCardFragment; reload(): void }) {
  const [verified, verify] = useMutation(VerifyDomainDocument)
  const [removed, remove] = useMutation(RemoveDomainDocument)
  const [asks, setAsks] = useState(false)
  const problem = problemOf(verified.error)
  const input = { id: domain.id, expectedVersion: domain.version }
  const [meaning, icon] = looks[domain.status]
  const isOwn = domain.level === 'ORGANIZATION'
  async function destroy() {
    const { data } = await remove({ input })
    if (!data?.removeSenderDomain) return
    toast({ sentence: say('senders.domain-removed', { domain: domain.domain }) })
    reload()
  }
  return (
    <Region
      isFlush
      state="ready"
      data-domain={domain.domain}
      title={
        <>
          <h2>{domain.domain}</h2>
          <Status meaning={meaning} icon={icon}>
            {say(`domain.${domain.status}`)}
          </Status>
        </>
      }
    >
      {domain.records.length > 0 && (
        <Table
          label={say('senders.records', { domain: domain.domain })}
          columns={columns()}
          rows={domain.records.map((record, at) => ({ ...record, id: `${at}` }))}
        />
      )}
      <div className="pager">
        <span>{domain.lastCheckedAt ? say('senders.checked', { when: lately(domain.lastCheckedAt) }) : say('senders.unchecked')}</span>
        {isOwn && (
          <span className="actions">
            <Button icon={RotateCw} isDisabled={verified.fetching} onPress={() => void verify({ input })}>
              {say(verified.fetching ? 'senders.verifying' : 'senders.verify')}
            </Button>
            <Button kind="danger" onPress={() => setAsks(true)}>
              {say('senders.remove-domain')}
            </Button>
          </span>
        )}
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks && (
        <Confirm
          title={say('senders.remove-title', { domain: domain.domain })}
          sentence={say('senders.remove-sentence')}
          verb={say('senders.remove-domain')}
          isBusy={removed.fetching}
          problem={problemOf(removed.error)}
          onConfirm={() => void destroy()}
          onClose={() => setAsks(false)}
        />
      )}
    </Region>
  )
}

const columns = (): readonly Column<DomainCardFragment['records'][number] & { readonly id: string }>[] => [
  { id: 'purpose', heading: say('senders.purpose'), cell: ({ purpose, type }) => `${say(`purpose.${purpose}`)} (${type})` },
  { id: 'host', heading: say('senders.host'), cell: ({ host }) => <Copyable text={host} /> },
  { id: 'value', heading: say('senders.value'), cell: ({ value }) => <Copyable text={value} /> },
  {
    id: 'status',
    isKept: true,
    heading: say('senders.state'),
    cell: ({ status }) => (
      <Status meaning={recordLooks[status][0]} icon={recordLooks[status][1]}>
        {say(`record.${status}`)}
      </Status>
    ),
  },
]
