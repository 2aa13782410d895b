import { WifiOff } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { Icon } from '../../design/parts/icon.tsx'
import { useLive } from '../context.ts'
import { useElapsed } from '../read.ts'
import { timeOfDay } from '../time.ts'
import { say } from '../words.ts'

/** A short break is nobody's business; from so long on it is said, in ms. */
const timeoutMs = 10_000

/** Says that nothing arrives by itself at the moment, and from when what one sees is. */
export function Reconnecting() {
  const live = useLive()
  const since = useSyncExternalStore(live.onChange, live.since)
  const isLong = useElapsed(timeoutMs, since !== null)
  if (!isLong || since === null || !navigator.onLine) return null
  return (
    <div className="offline" role="status">
      <Icon of={WifiOff} /> {say('frame.reconnecting', { time: timeOfDay(new Date(since)) })}
    </div>
  )
}
