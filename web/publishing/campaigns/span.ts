import { dayName } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { CampaignRowFragment } from './campaigns.generated.ts'

const options = { day: 'numeric', month: 'short', year: 'numeric' } as const

/** From when to when it goes, as far as that is known. */
export const spanOf = ({ startsOn, endsOn }: CampaignRowFragment): string =>
  startsOn || endsOn
    ? say('calendar.range', { from: startsOn ? dayName(startsOn, options) : '…', to: endsOn ? dayName(endsOn, options) : '…' })
    : say('campaigns.no-dates')
