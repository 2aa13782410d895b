import { Check, LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Action, Line, Menu } from '../../design/parts/menu.tsx'
import { useSession } from '../context.ts'
import { app } from '../place.ts'
import { say } from '../words.ts'
import type { FrameQuery } from './frame.generated.ts'
import { useSwitch } from './switch.ts'
import { readTheme, setTheme, type Theme } from './theme.ts'

const themes = { system: Monitor, light: Sun, dark: Moon } as const

/** Who is signed in, in which organization or in personal context (which the launcher alone has), how the pages look, and the way out. */
export function Account({
  viewer,
  memberships,
}: {
  readonly viewer: FrameQuery['viewer'] | null
  readonly memberships: NonNullable<NonNullable<FrameQuery['memberships']>['nodes']>
}) {
  const session = useSession()
  const { switchTo } = useSwitch()
  const [theme, choose] = useState(readTheme)
  const organizations = memberships.flatMap(each => each?.organization ?? []).filter(({ id }) => !session.isBound || id === viewer?.organization?.id)
  const name = viewer?.user?.name ?? ''
  return (
    <Menu
      name={say('frame.account')}
      button={
        <Button kind="quiet" name={say('frame.account')}>
          <span className="letter round" data-letter={initials(name)} aria-hidden />
        </Button>
      }
      above={
        <div className="who">
          <strong>{name}</strong>
          {viewer?.user?.email}
        </div>
      }
    >
      {organizations.map(({ id, name: title }) => (
        <Action key={id} id={id} name={title} onAction={() => id !== viewer?.organization?.id && void switchTo(id)}>
          <span className="letter" data-letter={title.slice(0, 1)} aria-hidden />
          <span className="clip">{title}</span>
          {id === viewer?.organization?.id && <Icon of={Check} />}
        </Action>
      ))}
      {app === 'launcher' && (
        <Action name={say('frame.personal')} onAction={() => viewer?.context !== 'PERSONAL' && void switchTo(null)}>
          <Icon of={UserRound} />
          <span className="clip">{say('frame.personal')}</span>
          {viewer?.context === 'PERSONAL' && <Icon of={Check} />}
        </Action>
      )}
      <Line />
      {Object.entries(themes).map(([each, icon]) => (
        <Action
          key={each}
          id={each}
          name={say(`theme.${each}`)}
          onAction={() => {
            setTheme(each as Theme)
            choose(each as Theme)
          }}
        >
          <Icon of={icon} />
          {say(`theme.${each}`)}
          {theme === each && <Icon of={Check} />}
        </Action>
      ))}
      <Line />
      <Action name={say('frame.sign-out')} onAction={() => void session.signOut()}>
        <Icon of={LogOut} />
        {say('frame.sign-out')}
      </Action>
    </Menu>
  )
}

const initials = (name: string): string =>
  name
    .split(/\s+/)
    .map(part => part.slice(0, 1))
    .slice(0, 2)
    .join('')
    .toUpperCase()
