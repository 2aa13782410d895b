import { nounRoutes } from '../derive/route.ts'

export const settingsRows = nounRoutes({
  select: {
    PaymentSettings: 'defaultCurrency captureMode checkoutMinutes invoiceDueDays refundApprovalThresholds { amountMinor currency } reminderDays version',
  },
  routes: {
    'GET /api/settings': 'paymentSettings',
    'PUT /api/settings': 'updatePaymentSettings',
  },
})
