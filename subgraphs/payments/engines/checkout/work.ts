import type { PaymentSettings } from '../../stores/admin/settings.ts'
import type { PaymentWork } from '../payment/work.ts'
import type { Pages } from './processor.ts'

/** What sessions and links are carried out with: everybody's rows, or those that a viewer may see. */
export interface CheckoutWork extends PaymentWork {
  readonly settings: PaymentSettings
  readonly pages: Pages
}
