// Field numbers of profile.proto, one enum for each message. Reader and writer share them.
#pragma once

#include <cstdint>

namespace heapgauge::profile_proto {

enum ProfileField : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15,
};
enum ValueTypeField : uint32_t { kTypeName = 1, kTypeUnit = 2 };
enum SampleField : uint32_t { kSampleLocation = 1, kSampleValue = 2, kSampleLabel = 3 };
enum LabelField : uint32_t { kLabelKey = 1, kLabelText = 2, kLabelNumber = 3, kLabelUnit = 4 };
enum MappingField : uint32_t {
  kMappingId = 1,
  kMappingStart = 2,
  kMappingLimit = 3,
  kMappingOffset = 4,
  kMappingFile = 5,
  kMappingBuildId = 6,
  kMappingHasFunctions = 7,
  kMappingHasFiles = 8,
  kMappingHasLines = 9,
  kMappingHasInlines = 10,
};
enum LocationField : uint32_t {
  kLocationId = 1,
  kLocationMapping = 2,
  kLocationAddress = 3,
  kLocationLine = 4,
  kLocationFolded = 5,
};
enum LineField : uint32_t { kLineFunction = 1, kLineNumber = 2, kLineColumn = 3 };
enum FunctionField : uint32_t {
  kFunctionId = 1,
  kFunctionName = 2,
  kFunctionSystemName = 3,
  kFunctionFile = 4,
  kFunctionStartLine = 5,
};

}  // namespace heapgauge::profile_proto
