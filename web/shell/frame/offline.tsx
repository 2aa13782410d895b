import { useEffect, useState } from 'react'
import { timeOfDay } from '../time.ts'
import { say } from '../words.ts'

/** Says that there is no network, and since when what one sees is as it was. */
export function OfflineBar() {
  const [since, setSince] = useState<Date | null>(navigator.onLine ? null : new Date())
  useEffect(() => {
    const [lost, found] = [() => setSince(new Date()), () => setSince(null)]
    addEventListener('offline', lost)
    addEventListener('online', found)
    return () => {
      removeEventListener('offline', lost)
      removeEventListener('online', found)
    }
  }, [])
  if (!since) return null
  return (
    <div className="offline" role="status">
      {say('frame.offline', { time: timeOfDay(since) })}
    </div>
  )
}
