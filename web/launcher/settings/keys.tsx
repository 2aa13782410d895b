import { useState } from 'react'
import { Select } from '../../design/parts/select.tsx'
import { useApps } from '../../shell/frame/apps.ts'
import { Keys } from '../../shell/keys/keys.tsx'
import { say } from '../../shell/words.ts'
import { SettingsPage } from './tabs.tsx'

/** Machine credentials of the organization, one service at a time. */
export default function KeysPage() {
  const { apps } = useApps({ isOpen: true })
  const [chosen, setChosen] = useState('publishing')
  const choices = apps.filter(({ slug }) => slug !== 'launcher').map(({ slug, title }) => ({ id: slug, name: title }))
  return (
    <SettingsPage>
      {choices.length > 1 && (
        <div className="filters">
          <Select label={say('settings.service')} choices={choices} value={chosen} onChange={setChosen} />
        </div>
      )}
      <Keys key={chosen} service={chosen} />
    </SettingsPage>
  )
}
