import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { useOnce } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { useRights } from '../../../shell/frame/rights.ts'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { money } from '../../../shell/parts/money.ts'
import { say } from '../../../shell/words.ts'
import { AcceptDisputeDocument, type DisputeDetailsFragment } from './disputes.generated.ts'
import { GiveEvidence } from './evidence.tsx'

/** What can be done with an open dispute: give evidence, or accept that the payer keeps the money. @param again reads the dispute anew @param reload reads the list anew */
export function DisputeActions({ dispute, again, reload }: { readonly dispute: DisputeDetailsFragment; again(): void; reload(): void }) {
  const mayWrite = useRights().may('payments:transactions.write')
  const [asks, setAsks] = useState<'evidence' | 'accept' | null>(null)
  if (!mayWrite || dispute.status !== 'OPEN') return null
  const done = () => {
    setAsks(null)
    reload()
  }
  return (
    <>
      <div className="actions">
        <Button kind="primary" onPress={() => setAsks('evidence')}>
          {say('disputes.give')}
        </Button>
        <Button kind="danger" onPress={() => setAsks('accept')}>
          {say('disputes.accept')}
        </Button>
      </div>
      {asks === 'evidence' && <GiveEvidence dispute={dispute} again={again} onDone={done} onClose={() => setAsks(null)} />}
      {asks === 'accept' && <Accept dispute={dispute} onDone={done} onClose={() => setAsks(null)} />}
    </>
  )
}

function Accept({ dispute, onDone, onClose }: { readonly dispute: DisputeDetailsFragment; onDone(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [{ error, fetching }, accept] = useMutation(AcceptDisputeDocument)
  async function act() {
    const { data } = await accept({ input: { id: dispute.id, expectedVersion: dispute.version, idempotencyKey } })
    if (!data?.acceptDispute) return
    toast({ sentence: say('disputes.accepted') })
    onDone()
  }
  return (
    <Confirm
      title={say('disputes.accept')}
      sentence={say('disputes.accept-sentence', { amount: money(dispute.amount), order: dispute.order?.number ?? '–' })}
      verb={say('disputes.accept')}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}
