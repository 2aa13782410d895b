import { Grid3x3 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Action, Menu } from '../../design/parts/menu.tsx'
import { Skeleton } from '../../design/parts/states.tsx'
import { useSession } from '../context.ts'
import { authPath, app as ownApp } from '../place.ts'
import { say } from '../words.ts'
import { useLaunch } from './launch.tsx'

interface App {
  readonly slug: string
  readonly title: string
}

/** Leads to the other services that the person may open. */
export function Switcher() {
  const session = useSession()
  const [apps, setApps] = useState<readonly App[] | null | 'failed'>(null)
  const { launch, refusal } = useLaunch()
  async function load() {
    const token = await session.token()
    const answer = await fetch(authPath('apps'), { headers: token === null ? {} : { authorization: `Bearer ${token}` } }).catch(() => null)
    setApps(answer?.ok ? ((await answer.json()) as { readonly apps: readonly App[] }).apps : 'failed')
  }
  const others = Array.isArray(apps) ? (apps as readonly App[]).filter(({ slug }) => slug !== ownApp) : []
  return (
    <>
      <Menu
        name={say('frame.apps')}
        onOpen={isOpen => isOpen && void load()}
        button={
          <Button kind="quiet" icon={Grid3x3}>
            <span className="wide">{say('frame.apps')}</span>
          </Button>
        }
        above={
          apps === null ? <Skeleton lines={4} /> : others.length === 0 && <p className="who">{say(apps === 'failed' ? 'problem.network' : 'frame.no-apps')}</p>
        }
      >
        {others.map(({ slug, title }) => (
          <Action key={slug} id={slug} name={title} onAction={() => void launch(slug)}>
            <span className="letter" aria-hidden>
              {title.slice(0, 1)}
            </span>
            {title}
          </Action>
        ))}
      </Menu>
      {refusal}
    </>
  )
}
