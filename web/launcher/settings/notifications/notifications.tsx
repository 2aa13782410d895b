import { useRead } from '../../../shell/read.ts'
import { Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { SettingsPage } from '../tabs.tsx'
import { DigestRegion } from './digest.tsx'
import { NotificationSettingsDocument } from './notifications.generated.ts'
import { PushRegion } from './push.tsx'
import { Rules } from './rules.tsx'
import { Times } from './times.tsx'

/** When and by which ways the person is told, in every context. */
export default function Notifications() {
  const { data, state, problem, retry } = useRead(NotificationSettingsDocument, {})
  const preferences = data?.notificationPreferences
  const shown = data && !preferences ? 'error' : state
  return (
    <SettingsPage>
      <Region title={say('ways.times')} state={shown} problem={problem} retry={retry} lines={6}>
        {preferences && <Times preferences={preferences} reload={retry} />}
      </Region>
      {preferences && <Rules preferences={preferences} reload={retry} />}
      <DigestRegion />
      <PushRegion />
    </SettingsPage>
  )
}
