import { DomainError } from '../../../../platform/errors.ts'
import { readText, requireName } from '../../../../platform/ids.ts'
import type { CampaignRow } from '../../stores/planning/campaign.ts'

/** Maximum characters of a campaign's texts. */
const longest = { name: 80, description: 2000 } as const

/** Editable fields of a campaign; undefined ones stay unchanged. */
export interface CampaignWords {
  readonly name?: string | null | undefined
  readonly description?: string | null | undefined
  readonly color?: string | null | undefined
  readonly startsOn?: string | null | undefined
  readonly endsOn?: string | null | undefined
}

type Kept = Pick<CampaignRow, 'name' | 'description' | 'color' | 'startsOn' | 'endsOn'>

const nothing: Kept = { name: '', description: null, color: null, startsOn: null, endsOn: null }

const refuse = (field: string, sentence: string) => new DomainError('BAD_USER_INPUT', `${field} ${sentence}`, { field })

function readColor(given: string | null): string | null {
  if (given === null || /^#[0-9a-f]{6}$/i.test(given)) return given?.toLowerCase() ?? null
  throw refuse('color', 'is no colour: write # and six hexadecimal digits, such as #1e90ff.')
}

/** Reads a day between the years 1900 and 9999. */
function readDay(given: string | null, field: string): string | null {
  if (given === null) return null
  const at = /^(?:19|[2-9]\d)\d{2}-\d{2}-\d{2}$/.test(given) ? Date.parse(`${given}T00:00:00Z`) : Number.NaN
  if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(given)) return given
  throw refuse(field, 'is no day: write one such as 2027-03-01.')
}

/**
 * Returns the fields of a campaign after an edit.
 * @throws BAD_USER_INPUT for too long texts, for an invalid colour or day, and for an end before the start
 */
export function writeInto({ name, description, color, startsOn, endsOn }: CampaignWords, before: Kept = nothing): Kept {
  const after = {
    name: name === undefined ? before.name : requireName(name ?? '', 'name', longest.name),
    description: description === undefined ? before.description : readText(description, 'description', longest.description),
    color: color === undefined ? before.color : readColor(color),
    startsOn: startsOn === undefined ? before.startsOn : readDay(startsOn, 'startsOn'),
    endsOn: endsOn === undefined ? before.endsOn : readDay(endsOn, 'endsOn'),
  }
  if (after.endsOn && !after.startsOn) throw refuse('endsOn', 'is there without startsOn: say when the campaign begins.')
  if (after.endsOn && after.startsOn && after.endsOn < after.startsOn) throw refuse('endsOn', 'lies before startsOn: a campaign ends after it has begun.')
  return after
}
