import { dollars } from '../../shell/parts/money.ts'
import { say } from '../../shell/words.ts'
import type { LimitRowFragment } from './limits.generated.ts'

/** What a limit is about: `App app_support, a month`. */
export const limitName = ({ scopeType, scopeValue, period }: Pick<LimitRowFragment, 'scopeType' | 'scopeValue' | 'period'>): string =>
  say('limits.name', {
    scope: ['ORGANIZATION', 'PLATFORM', 'PLATFORM_CREDENTIALS'].includes(scopeType) ? say(`scope.${scopeType}`) : `${say(`scope.${scopeType}`)} ${scopeValue}`,
    period: say(`period.${period}`),
  })

/** What of a limit is spent, as a bar and in figures. */
export function Spent({ limit: { spentMicros, reservedMicros, hardLimit, softLimitMicros, ...limit } }: { readonly limit: LimitRowFragment }) {
  const top = hardLimit?.limitMicros ?? softLimitMicros
  const used = Number(spentMicros) + Number(reservedMicros)
  return (
    <span className="meter">
      {top !== null && top !== undefined && (
        <meter min={0} max={Math.max(Number(top), 1)} high={Number(top) * 0.8} value={used} aria-label={say('limits.spent-of', { name: limitName(limit) })} />
      )}
      {dollars(spentMicros)}
    </span>
  )
}
