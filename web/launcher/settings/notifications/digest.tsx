import { Check, Send } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Icon } from '../../../design/parts/icon.tsx'
import { type Problem, problemOf } from '../../../shell/data/problems.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { SendDigestDocument } from './notifications.generated.ts'

/** Sends a digest at once. */
export function DigestRegion() {
  const [{ data, error, fetching }, send] = useMutation(SendDigestDocument)
  // What got no answer may have been sent: the same key tries again without a second mail.
  const [key, setKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(error)
  const digest = fetching ? null : data?.sendNotificationDigest
  async function press() {
    const answer = await send({ input: { idempotencyKey: key } })
    if (answer.data?.sendNotificationDigest) setKey(crypto.randomUUID())
  }
  return (
    <Region title={say('digest.title')} state="ready" data-digest={fetching ? 'sending' : problem ? 'refused' : digest ? 'answered' : undefined}>
      <p className="quiet">{say('digest.means')}</p>
      {/* It is there before it says anything, so that screen readers tell of it. */}
      <p role="status" className="actions">
        {fetching && say('digest.sending')}
        {digest && <Icon of={Check} />}
        {digest && outcomeOf(digest)}
      </p>
      {problem && !fetching && <Failure sentence={refusalOf(problem)} requestId={problem.requestId} />}
      <div className="actions">
        <Button icon={Send} isDisabled={fetching} onPress={() => void press()}>
          {say('digest.send')}
        </Button>
      </div>
    </Region>
  )
}

const outcomeOf = ({ sent, openItems, unreadNotifications }: { readonly sent: boolean; readonly openItems: number; readonly unreadNotifications: number }) =>
  sent ? say('digest.sent', { items: openItems, unread: unreadNotifications }) : say('digest.nothing')

function refusalOf({ code, details, sentence }: Problem): string {
  const seconds = Number(details?.retryAfter)
  return code === 'RATE_LIMITED' && seconds > 0 ? say('digest.limit', { minutes: Math.ceil(seconds / 60) }) : sentence
}
