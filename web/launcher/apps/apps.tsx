import { AppWindow, Search } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useSubscription } from 'urql'
import { Select } from '../../design/parts/select.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say, sayIfKnown } from '../../shell/words.ts'
import { type AppCardFragment, CatalogueDocument, InstallationsChangedDocument } from './apps.generated.ts'
import { useAppLaunch } from './launch.tsx'
import { AppPanel } from './panel.tsx'
import { Requests } from './requests.tsx'
import { AppStatus, Verbs } from './verbs.tsx'

/** The one catalogue of the active context, what is installed first; what is looked for stands in the address. */
export default function Apps() {
  const search = useSearch()
  const opened = /^\/apps\/([^/]+)$/.exec(usePath())?.[1]
  const wanted = (search.get('search') ?? '').trim()
  const { may, isPersonal } = useRights()
  const { data, state, problem, retry } = useRead(CatalogueDocument, { search: wanted || null })
  const { launch, opening, refusal } = useAppLaunch()
  useInstallations(retry)
  const entries = (data?.catalogEntries?.nodes ?? []).flatMap(each => each ?? [])
  const filters = filtersOf(entries)
  const chosen: Partial<Record<FilterName, string>> = {}
  for (const { name, values } of filters) {
    const value = values.find(each => each === search.get(name))
    if (value !== undefined) chosen[name] = value
  }
  const look = (changes: Readonly<Record<string, string | null>>) => goTo(withSearch('/apps', search, changes), { replace: true })
  const found = entries.filter(
    ({ category, kind, installed }) =>
      (!chosen.category || category === chosen.category) &&
      (!chosen.kind || kind === chosen.kind) &&
      (!chosen.installed || installed === (chosen.installed === 'yes')),
  )
  // With words to look for the best comes first, as it was found; without them what is at hand does.
  const shown = wanted ? found : found.toSorted((a, b) => Number(b.installed) - Number(a.installed))
  const requests = (data?.accessRequests?.nodes ?? []).flatMap(each => (each?.status === 'PENDING' ? [each] : []))
  const plan = data?.entitlements?.platformApps ?? null
  const isNarrowed = wanted !== '' || Object.keys(chosen).length > 0
  const verbs = { plan, launch, reload: retry }
  return (
    <Page title={say('apps.title')}>
      <search className="filters">
        <SearchField value={search.get('search') ?? ''} onChange={text => look({ search: text || null })} />
        {filters.map(({ name, heading, values, title }) => (
          <Select
            key={name}
            label={heading}
            isLabelHidden
            choices={[{ id: '', name: say('apps.any', { name: heading }) }, ...values.map(id => ({ id, name: title(id) }))]}
            value={chosen[name] ?? ''}
            onChange={value => look({ [name]: value || null })}
          />
        ))}
      </search>
      {may('launcher:apps.write') && requests.length > 0 && <Requests requests={requests} reload={retry} />}
      <div className={opened ? 'beside open' : 'beside'}>
        {data?.catalogEntries && shown.length > 0 ? (
          <div className="cards">
            {shown.map(each => (
              <Card key={each.id} app={each} to={withSearch(`/apps/${each.app}`, search, {})} isOpening={opening === each.app} {...verbs} />
            ))}
          </div>
        ) : (
          <Region
            state={data ? (data.catalogEntries ? 'empty' : 'error') : state}
            problem={problem}
            retry={retry}
            empty={{
              icon: isNarrowed ? Search : AppWindow,
              sentence: say(isNarrowed ? 'apps.empty-search' : isPersonal ? 'apps.empty-personal' : 'frame.no-apps'),
            }}
          />
        )}
        {opened && <AppPanel key={opened} slug={opened} back={withSearch('/apps', search, {})} isOpening={opening === opened} {...verbs} />}
      </div>
      {refusal}
    </Page>
  )
}

/** Has the catalogue read again when something was installed or removed, here or by somebody else. */
function useInstallations(retry: () => void): void {
  const [{ data }] = useSubscription({ query: InstallationsChangedDocument })
  const told = useRef(data)
  useEffect(() => {
    if (told.current === data) return
    told.current = data
    retry()
  }, [data, retry])
}

type FilterName = 'installed' | 'category' | 'kind'

/** Filters that have something to tell apart, with their values. */
function filtersOf(entries: readonly AppCardFragment[]) {
  const valuesOf = (name: 'category' | 'kind') => [...new Set(entries.flatMap(each => each[name] ?? []))].sort()
  const filters: readonly { readonly name: FilterName; readonly heading: string; readonly values: readonly string[]; title(value: string): string }[] = [
    { name: 'installed', heading: say('apps.filter-installed'), values: ['yes', 'no'], title: value => say(`apps.installed-${value}`) },
    { name: 'category', heading: say('apps.category'), values: valuesOf('category'), title: value => sayIfKnown(`category.${value}`, value) },
    { name: 'kind', heading: say('apps.kind'), values: valuesOf('kind'), title: value => say(`apps.kind-${value}`) },
  ]
  return filters.filter(({ values }) => values.length > 1)
}

/** Looks for what was typed when nothing more was for 300 ms. */
function SearchField({ value, onChange }: { readonly value: string; onChange(value: string): void }) {
  const [text, setText] = useState(value)
  useEffect(() => {
    if (text.trim() === value) return
    const timer = setTimeout(() => onChange(text.trim()), 300)
    return () => clearTimeout(timer)
  }, [text, value, onChange])
  const name = say('apps.search')
  return <input className="input search" type="search" value={text} placeholder={name} aria-label={name} onChange={event => setText(event.target.value)} />
}

function Card({ app, to, ...verbs }: Parameters<typeof Verbs>[0] & { readonly to: string }) {
  const { title, summary, icon } = app
  return (
    <Region
      data-app={app.app}
      state="ready"
      title={
        <>
          <img className="letter" src={icon} alt="" width={24} height={24} loading="lazy" />
          <h2>
            <Link to={to}>{title}</Link>
          </h2>
          <AppStatus of={app} />
        </>
      }
    >
      <p className="quiet">{summary ?? say(`apps.origin-${app.origin}`)}</p>
      <Verbs app={app} {...verbs} />
    </Region>
  )
}
