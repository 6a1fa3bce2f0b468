#include "sched/work_meter.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

using Account = WorkMeter::Account;

const QueueId kBusy = IdAt<QueueId>(0);
const QueueId kOther = IdAt<QueueId>(1);

void Work(WorkMeter& meter, QueueId queue, std::size_t looked, Account account = Account::kFirst) {
  meter.Look(looked);
  meter.Charge(queue, account);
}

TEST(WorkMeter, HasNoLimitWithoutABudget) {
  WorkMeter meter;
  Work(meter, kBusy, 1'000'000'000);
  EXPECT_TRUE(meter.Allows(kBusy, Account::kFirst, false));
  EXPECT_EQ(meter.looked(), 1'000'000'000);
}

TEST(WorkMeter, OneQueueMayUseTheWholeBudget) {
  WorkMeter meter(100);
  meter.Expect(kBusy);
  Work(meter, kBusy, 99);
  EXPECT_TRUE(meter.Allows(kBusy, Account::kFirst, false));
  Work(meter, kBusy, 1);
  EXPECT_FALSE(meter.Allows(kBusy, Account::kFirst, false));
}

TEST(WorkMeter, AQueueCannotUseTheShareOfAnother) {
  WorkMeter meter(100);
  meter.Expect(kBusy);
  meter.Expect(kOther);
  Work(meter, kBusy, 5'000);
  EXPECT_FALSE(meter.Allows(kBusy, Account::kFirst, false));
  Work(meter, kOther, 49);
  EXPECT_TRUE(meter.Allows(kOther, Account::kFirst, false));
  Work(meter, kOther, 1);
  EXPECT_FALSE(meter.Allows(kOther, Account::kFirst, false));
}

TEST(WorkMeter, TheAccountsOfAQueueThatIsBehindDoNotUseEachOthersHalf) {
  WorkMeter meter(100);
  meter.Expect(kBusy);
  Work(meter, kBusy, 5'000, Account::kAgain);
  EXPECT_FALSE(meter.Allows(kBusy, Account::kAgain, true));
  Work(meter, kBusy, 49);
  EXPECT_TRUE(meter.Allows(kBusy, Account::kFirst, true));
  Work(meter, kBusy, 1);
  EXPECT_FALSE(meter.Allows(kBusy, Account::kFirst, true));
}

}  // namespace
}  // namespace strata
