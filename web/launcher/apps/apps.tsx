import { AppWindow, ArrowUpRight, Search } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { goTo, useSearch, withSearch } from '../../shell/address.tsx'
import { useApps } from '../../shell/frame/apps.ts'
import { useLaunch } from '../../shell/frame/launch.tsx'
import { Page } from '../../shell/page.tsx'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'

/** The apps that the person may open in the active context, by title; what is looked for stands in the address. */
export default function Apps() {
  const search = useSearch()
  const wanted = search.get('search') ?? ''
  const { apps, state, problem, retry } = useApps({ isOpen: true })
  const { launch, refusal } = useLaunch()
  const [opening, setOpening] = useState<string | null>(null)
  const found = apps.filter(({ slug, title }) => slug !== 'launcher' && title.toLowerCase().includes(wanted.trim().toLowerCase()))
  async function open(slug: string) {
    setOpening(slug)
    await launch(slug)
    setOpening(null)
  }
  return (
    <Page title={say('apps.title')}>
      <search className="filters">
        <input
          className="input search"
          type="search"
          aria-label={say('apps.search')}
          placeholder={say('apps.search')}
          value={wanted}
          onChange={event => goTo(withSearch('/apps', search, { search: event.target.value }), { replace: true })}
        />
      </search>
      {state === 'ready' && found.length > 0 ? (
        <div className="cards">
          {found.map(({ slug, title, contexts }) => (
            <Region
              key={slug}
              data-app={slug}
              state="ready"
              title={
                <>
                  <span className="letter" data-letter={title.slice(0, 1)} aria-hidden />
                  <h2>{title}</h2>
                </>
              }
            >
              <p className="quiet">{say(contexts.includes('personal') ? 'apps.both' : 'apps.organization')}</p>
              <div className="actions">
                <Button
                  icon={ArrowUpRight}
                  isDisabled={opening === slug}
                  onPress={() => void open(slug)}
                  aria-label={say('action.of', { action: say('apps.open'), name: title })}
                >
                  {say('apps.open')}
                </Button>
              </div>
            </Region>
          ))}
        </div>
      ) : (
        <Region
          state={state === 'ready' ? 'empty' : state}
          problem={problem}
          retry={retry}
          empty={{ icon: wanted ? Search : AppWindow, sentence: say(wanted ? 'apps.empty-search' : 'frame.no-apps') }}
        />
      )}
      {refusal}
    </Page>
  )
}
