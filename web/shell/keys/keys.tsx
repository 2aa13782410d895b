import { CircleCheck, CircleOff, Clock, KeyRound, Plus, RotateCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { usePath, useSearch } from '../address.tsx'
import { problemOf } from '../data/problems.ts'
import { useRights } from '../frame/rights.ts'
import { Confirm } from '../parts/ask.tsx'
import { afterOf, Pager } from '../parts/listing.tsx'
import { Secret } from '../parts/secret.tsx'
import { useRead } from '../read.ts'
import { Failure, Region } from '../region.tsx'
import { lately, moment } from '../time.ts'
import { say } from '../words.ts'
import { KeyForm } from './form.tsx'
import { type KeyRowFragment, KeysDocument, RevokeKeyDocument, RotateKeyDocument } from './keys.generated.ts'

/** The machine credentials of one service in the active organization: made and rotated with a secret that is shown once, and revoked. */
export function Keys({ service }: { readonly service: string }) {
  const may = useRights().may(`${service}:api_keys.write`)
  const [path, search] = [usePath(), useSearch()]
  const [isNew, setNew] = useState(false)
  const { data, state, problem, retry } = useRead(KeysDocument, { service, ...afterOf(search) }, { isEmpty: ({ apiKeys }) => apiKeys?.nodes?.length === 0 })
  const create = may && (
    <Button kind="primary" icon={Plus} onPress={() => setNew(true)}>
      {say('keys.create')}
    </Button>
  )
  return (
    <>
      <Region
        isFlush
        title={say('keys.list')}
        tools={create}
        state={state}
        problem={problem}
        retry={retry}
        empty={{ icon: KeyRound, sentence: say('keys.empty') }}
      >
        <ul className="list">{(data?.apiKeys?.nodes ?? []).map(each => each && <KeyLine key={each.id} row={each} mayWrite={may} />)}</ul>
        <Pager path={path} page={data?.apiKeys?.pageInfo} count={say('list.count', { count: data?.apiKeys?.totalCount ?? 0 })} />
      </Region>
      {isNew && <KeyForm service={service} onClose={() => setNew(false)} onDone={retry} />}
    </>
  )
}

const states = { ACTIVE: ['positive', CircleCheck], EXPIRED: ['plain', Clock], REVOKED: ['plain', CircleOff] } as const

function KeyLine({ row, mayWrite }: { readonly row: KeyRowFragment; readonly mayWrite: boolean }) {
  const [rotated, rotate] = useMutation(RotateKeyDocument)
  const [revoked, revoke] = useMutation(RevokeKeyDocument)
  const [asks, setAsks] = useState<'rotate' | 'revoke' | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const problem = problemOf(rotated.error ?? revoked.error)
  const [meaning, icon] = states[row.state]
  const facts = [
    `${row.prefix}…`,
    row.createdBy?.name,
    row.lastUsedAt ? say('keys.used', { when: lately(row.lastUsedAt) }) : say('keys.unused'),
    row.expiresAt && say('keys.expires', { when: moment(row.expiresAt) }),
  ]
  return (
    <li data-key={row.id}>
      <Icon of={KeyRound} large />
      <div className="grow">
        <p className="clip">{row.name}</p>
        <p className="quiet small">{facts.filter(Boolean).join(' · ')}</p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      <Status meaning={meaning} icon={icon}>
        {say(`keys.${row.state}`)}
      </Status>
      {mayWrite && row.state === 'ACTIVE' && (
        <>
          <Button kind="quiet" icon={RotateCw} name={say('keys.rotate-named', { name: row.name })} onPress={() => setAsks('rotate')} />
          <Button kind="quiet" icon={Trash2} name={say('keys.revoke-named', { name: row.name })} onPress={() => setAsks('revoke')} />
        </>
      )}
      {asks === 'rotate' && (
        <Confirm
          title={say('keys.rotate')}
          sentence={say('keys.rotate-sure', { name: row.name })}
          verb={say('keys.rotate')}
          isDanger={false}
          isBusy={rotated.fetching}
          onClose={() => setAsks(null)}
          onConfirm={() =>
            void rotate({ input: { id: row.id, idempotencyKey: crypto.randomUUID() } }).then(({ data }) => {
              setAsks(null)
              setSecret(data?.rotateApiKey?.secret ?? null)
            })
          }
        />
      )}
      {asks === 'revoke' && (
        <Confirm
          title={say('keys.revoke')}
          sentence={say('keys.revoke-sure', { name: row.name })}
          verb={say('keys.revoke')}
          isBusy={revoked.fetching}
          onClose={() => setAsks(null)}
          onConfirm={() =>
            void revoke({ input: { id: row.id } }).then(({ data }) => {
              setAsks(null)
              if (data?.revokeApiKey) toast({ sentence: say('keys.revoked') })
            })
          }
        />
      )}
      {secret && (
        <Dialog title={say('keys.secret')} onClose={() => setSecret(null)}>
          <Secret value={secret} label={say('keys.secret')} once={say('keys.once')} onKept={() => setSecret(null)} />
        </Dialog>
      )}
    </li>
  )
}
