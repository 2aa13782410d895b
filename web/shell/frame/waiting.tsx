import { Inbox } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { goTo } from '../address.tsx'
import { app } from '../place.ts'
import { say } from '../words.ts'
import { useLaunch } from './launch.tsx'

/** How much waits for the person, and the way to it: a page of the launcher. */
export function Waiting({ count }: { readonly count: number | null }) {
  const { launch, refusal } = useLaunch()
  if (count === null) return null
  return (
    <>
      <Button
        kind="quiet"
        onPress={() => (app === 'launcher' ? goTo('/actions') : void launch('launcher', '/actions'))}
        aria-label={say('frame.waiting', { count })}
      >
        <Icon of={Inbox} large />
        <span className="figures" aria-hidden>
          {count}
        </span>
      </Button>
      {refusal}
    </>
  )
}
