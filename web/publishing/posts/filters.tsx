import { Check, ChevronDown, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Action, Menu } from '../../design/parts/menu.tsx'
import { goTo, withSearch } from '../../shell/address.tsx'
import { say } from '../../shell/words.ts'
import { networks, platforms } from '../brand/networks.ts'
import type { Platform, PostApproval, PostStatus } from './posts.generated.ts'

const statuses: readonly PostStatus[] = ['DRAFT', 'SCHEDULED', 'PUBLISHED', 'FAILED']
const approvals: readonly PostApproval[] = ['PENDING', 'APPROVED', 'CHANGES_REQUESTED', 'REJECTED']

/** The filters of `posts` that an address names; values that there are none of count as not named. */
export function filtersIn(search: URLSearchParams): { status?: PostStatus; platform?: Platform; approval?: PostApproval; search?: string } {
  const one = <Value extends string>(name: string, values: readonly Value[]) => values.find(value => value.toLowerCase() === search.get(name)?.toLowerCase())
  const [status, platform, approval] = [one('status', statuses), one('platform', platforms), one('approval', approvals)]
  const text = search.get('search')?.trim()
  return { ...(status && { status }), ...(platform && { platform }), ...(approval && { approval }), ...(text && { search: text }) }
}

/** A pill a filter, with its value; what is chosen stands in the address, so it can be kept and sent. */
export function PostFilters({ search }: { readonly search: URLSearchParams }) {
  const chosen = filtersIn(search)
  const choose = (name: string, value: string | null) =>
    goTo(withSearch('/posts', search, { [name]: value?.toLowerCase() ?? null, after: null }), { replace: true })
  const pills = [
    { name: 'status', values: statuses, value: chosen.status, title: (value: string) => say(`post.${value}`) },
    { name: 'platform', values: platforms, value: chosen.platform, title: (value: string) => networks[value as Platform] },
    { name: 'approval', values: approvals, value: chosen.approval, title: (value: string) => say(`approval.${value}`) },
  ] as const
  return (
    <search className="filters">
      <SearchField value={chosen.search ?? ''} onChange={value => choose('search', value || null)} />
      {pills.map(({ name, values, value, title }) => (
        <Menu
          key={name}
          name={say(`filter.${name}`)}
          button={
            <Button chosen={value !== undefined}>
              {value === undefined ? say(`filter.${name}`) : say('filter.named', { name: say(`filter.${name}`), value: title(value) })}
              <Icon of={ChevronDown} />
            </Button>
          }
        >
          {values.map(each => (
            <Action key={each} id={each} name={title(each)} onAction={() => choose(name, each === value ? null : each)}>
              {title(each)}
              {each === value && <Icon of={Check} />}
            </Action>
          ))}
        </Menu>
      ))}
      {Object.keys(chosen).length > 0 && (
        <Button kind="quiet" icon={X} onPress={() => goTo('/posts', { replace: true })}>
          {say('filter.clear')}
        </Button>
      )}
    </search>
  )
}

/** Looks for what was typed when nothing more was for 300 ms. */
function SearchField({ value, onChange }: { readonly value: string; onChange(value: string): void }) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text.trim() === value) return
    const timer = setTimeout(() => onChange(text.trim()), 300)
    return () => clearTimeout(timer)
  }, [text, value, onChange])
  return (
    <input
      className="input search"
      type="search"
      value={text}
      placeholder={say('filter.search')}
      aria-label={say('filter.search')}
      onChange={event => setText(event.target.value)}
    />
  )
}
