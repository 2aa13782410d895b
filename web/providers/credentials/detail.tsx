import { FlaskConical, Power, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Note } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { providerTitle } from '../names.ts'
import {
  CredentialDetailDocument,
  type CredentialDetailsFragment,
  DeleteCredentialDocument,
  TestCredentialDocument,
  UpdateCredentialDocument,
} from './credentials.generated.ts'
import { Rotate } from './rotate.tsx'
import { CredentialState } from './state.tsx'

/** One credential beside its list: what is known of it, and what can be done with it. Its secret is in no answer. */
export function CredentialPanel({ id, back, reload }: { readonly id: string; readonly back: string; reload(): void }) {
  const { data, state, problem, retry } = useRead(CredentialDetailDocument, { id })
  const credential = data?.credential
  return (
    <Panel label={say('credentials.one')} heading={credential?.name} back={back} state={data && !credential ? 'error' : state} problem={problem} retry={retry}>
      {credential && <Details credential={credential} back={back} reload={reload} />}
    </Panel>
  )
}

function Details({ credential, back, reload }: { readonly credential: CredentialDetailsFragment; readonly back: string; reload(): void }) {
  const { fields, status, testMessage, graceEndsAt } = credential
  const isInGrace = graceEndsAt !== null && graceEndsAt !== undefined && Date.parse(graceEndsAt) > Date.now()
  return (
    <>
      <div>
        <CredentialState status={status} />
      </div>
      {testMessage && (
        <Note meaning={status === 'FAILING' ? 'danger' : 'plain'} icon={FlaskConical}>
          {testMessage}
        </Note>
      )}
      {isInGrace && (
        <Note meaning="info" icon={RefreshCw}>
          {say('credentials.grace', { when: moment(graceEndsAt) })}
        </Note>
      )}
      <Actions credential={credential} back={back} reload={reload} />
      <Facts
        of={[
          [say('credentials.provider'), providerTitle(credential.provider)],
          [say('family.heading'), say(`family.${credential.family}`)],
          [say('level.heading'), say(`level.${credential.level}`)],
          ...fields.map(({ name, value, masked }) => [say(`credential-field.${name}`), <code key={name}>{value ?? masked}</code>] as const),
          [say('credentials.base-url'), credential.baseUrl],
          [say('credentials.tested'), credential.testedAt && lately(credential.testedAt)],
          [say('credentials.last-used'), credential.lastUsedAt && lately(credential.lastUsedAt)],
          [say('credentials.rotated'), credential.rotatedAt && moment(credential.rotatedAt)],
          [say('credentials.created'), moment(credential.createdAt)],
        ]}
      />
    </>
  )
}

function Actions({ credential, back, reload }: { readonly credential: CredentialDetailsFragment; readonly back: string; reload(): void }) {
  const [tested, test] = useMutation(TestCredentialDocument)
  const [updated, update] = useMutation(UpdateCredentialDocument)
  const [deleted, remove] = useMutation(DeleteCredentialDocument)
  const [asks, setAsks] = useState<'rotate' | 'delete' | null>(null)
  const isDisabled = credential.status === 'DISABLED'
  const input = { id: credential.id, expectedVersion: credential.version }
  const problem = problemOf(tested.error ?? updated.error)
  async function destroy() {
    const { data } = await remove({ input })
    if (!data?.deleteCredential) return
    toast({ sentence: say('credentials.deleted', { name: credential.name }) })
    reload()
    goTo(back)
  }
  return (
    <>
      <div className="actions">
        {!isDisabled && (
          <Button icon={FlaskConical} isDisabled={tested.fetching} onPress={() => void test({ input: { id: credential.id } })}>
            {say(tested.fetching ? 'credentials.testing' : 'credentials.test')}
          </Button>
        )}
        <Button icon={RefreshCw} onPress={() => setAsks('rotate')}>
          {say('credentials.rotate')}
        </Button>
        <Button icon={Power} isDisabled={updated.fetching} onPress={() => void update({ input: { ...input, active: isDisabled } })}>
          {say(isDisabled ? 'credentials.enable' : 'credentials.disable')}
        </Button>
        <Button kind="danger" icon={Trash2} onPress={() => setAsks('delete')}>
          {say('credentials.delete')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'rotate' && <Rotate credential={credential} onClose={() => setAsks(null)} />}
      {asks === 'delete' && (
        <Confirm
          title={say('credentials.delete-title', { name: credential.name })}
          sentence={say('credentials.delete-sentence', { provider: providerTitle(credential.provider) })}
          verb={say('credentials.delete')}
          isBusy={deleted.fetching}
          problem={problemOf(deleted.error)}
          onConfirm={() => void destroy()}
          onClose={() => setAsks(null)}
        />
      )}
    </>
  )
}
