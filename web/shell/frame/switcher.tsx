import { Grid3x3 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Action, Menu } from '../../design/parts/menu.tsx'
import { Skeleton } from '../../design/parts/states.tsx'
import { app as ownApp } from '../place.ts'
import { say } from '../words.ts'
import { useApps } from './apps.ts'
import { useLaunch } from './launch.tsx'

/** Leads to the other services that the person may open. */
export function Switcher() {
  const [isOpen, setOpen] = useState(false)
  const { apps, state, problem } = useApps({ isOpen })
  const { launch, refusal } = useLaunch()
  const others = apps.filter(({ slug }) => slug !== ownApp)
  return (
    <>
      <Menu
        name={say('frame.apps')}
        onOpen={setOpen}
        button={
          <Button kind="quiet" icon={Grid3x3}>
            <span className="wide">{say('frame.apps')}</span>
          </Button>
        }
        above={state === 'loading' ? <Skeleton lines={4} /> : others.length === 0 && <p className="who">{problem?.sentence ?? say('frame.no-apps')}</p>}
      >
        {others.map(({ slug, title }) => (
          <Action key={slug} id={slug} name={title} onAction={() => void launch(slug)}>
            <span className="letter" data-letter={title.slice(0, 1)} aria-hidden />
            {title}
          </Action>
        ))}
      </Menu>
      {refusal}
    </>
  )
}
