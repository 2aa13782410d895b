import { Bell, BellOff, Check } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Note, Status } from '../../../design/parts/status.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { useRights } from '../../../shell/frame/rights.ts'
import { base } from '../../../shell/place.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { AddPushDocument, RemovePushDocument } from './notifications.generated.ts'

/** How push messages stand in this browser: it cannot take any, its person forbade them, or they are off or on. */
type Standing = 'unable' | 'denied' | 'off' | 'on'

/** Where this browser remembers whose messages it takes: another person who signs in here has not asked for them. */
const ownerKey = 'supergraph.push.owner'

const isAble = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

async function standingOf(personId: string): Promise<Standing> {
  if (!isAble()) return 'unable'
  if (Notification.permission === 'denied') return 'denied'
  const registration = await navigator.serviceWorker.getRegistration(`${base}/`)
  const subscription = await registration?.pushManager.getSubscription()
  return subscription && localStorage.getItem(ownerKey) === personId ? 'on' : 'off'
}

/** What a browser says of its subscription, as the graph takes it; null where it says too little. */
function described(subscription: PushSubscription) {
  const { endpoint, keys } = subscription.toJSON()
  return endpoint && keys?.p256dh && keys.auth ? { endpoint, p256dh: keys.p256dh, auth: keys.auth } : null
}

/** Subscribes this browser at its push service. @throws where the person, the browser or the push service refuses */
async function subscribe(): Promise<PushSubscription> {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error('permission')
  const answer = await fetch(`${base}/api/push/key`)
  if (!answer.ok) throw new Error(`the key was answered with ${answer.status}`)
  const { publicKey } = (await answer.json()) as { readonly publicKey: string }
  const { pushManager } = await navigator.serviceWorker.ready
  const present = await pushManager.getSubscription()
  return present ?? pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
}

/** Push messages of this browser. */
export function PushRegion() {
  const { id: personId } = useRights()
  const [added, add] = useMutation(AddPushDocument)
  const [removed, remove] = useMutation(RemovePushDocument)
  const [standing, setStanding] = useState<Standing | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<string | null>(null)
  const look = useCallback(async () => {
    if (personId) setStanding(await standingOf(personId).catch(() => 'unable' as const))
  }, [personId])
  useEffect(() => void look(), [look])
  const problem = problemOf(added.error ?? removed.error)

  async function turnOn() {
    const input = described(await subscribe())
    if (!input) throw new Error('the browser names no key')
    const { data } = await add({ input })
    if (!data?.addPushSubscription) return
    localStorage.setItem(ownerKey, personId!)
    toast({ sentence: say('push.now-on') })
  }
  async function turnOff() {
    const registration = await navigator.serviceWorker.getRegistration(`${base}/`)
    const subscription = await registration?.pushManager.getSubscription()
    const input = subscription && described(subscription)
    // A browser that is added again answers its own id.
    const { data } = input ? await add({ input }) : { data: null }
    if (data?.addPushSubscription && (await remove({ input: { id: data.addPushSubscription.id } })).error) return
    await subscription?.unsubscribe()
    localStorage.removeItem(ownerKey)
    toast({ sentence: say('push.now-off') })
  }
  async function change(work: () => Promise<void>) {
    setBusy(true)
    setRefusal(null)
    await work().catch(() => setRefusal(say('push.refused')))
    await look()
    setBusy(false)
  }
  return (
    <Region title={say('push.title')} state={standing === null ? 'loading' : 'ready'} lines={2} data-push={standing ?? undefined}>
      <p className="quiet">{say('push.means')}</p>
      {standing === 'unable' && (
        <Note meaning="plain" icon={BellOff}>
          {say('push.unable')}
        </Note>
      )}
      {standing === 'denied' && (
        <Note meaning="warning" icon={BellOff}>
          {say('push.denied')}
        </Note>
      )}
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {refusal && standing !== 'denied' && <Failure sentence={refusal} />}
      {standing === 'off' && (
        <div className="actions">
          <Button icon={Bell} isDisabled={isBusy} onPress={() => void change(turnOn)}>
            {say('push.on')}
          </Button>
        </div>
      )}
      {standing === 'on' && (
        <div className="actions">
          <Status meaning="positive" icon={Check}>
            {say('push.is-on')}
          </Status>
          <Button icon={BellOff} isDisabled={isBusy} onPress={() => void change(turnOff)}>
            {say('push.off')}
          </Button>
        </div>
      )}
    </Region>
  )
}
