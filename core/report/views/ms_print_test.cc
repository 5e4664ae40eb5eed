// What ms_print 3.19 prints, kept here; tests/cli compares with the program itself, where there is
// one.
#include "core/report/views/ms_print.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "core/formats/massif/massif_file.h"

namespace heapgauge {
namespace {

const char* const kFile = R"(desc: (none)
cmd: ./server -p 80
time_unit: ms
#-----------
snapshot=0
#-----------
time=0
mem_heap_B=0
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
#-----------
snapshot=1
#-----------
time=700
mem_heap_B=1500
mem_heap_extra_B=36
mem_stacks_B=0
heap_tree=detailed
n1: 1500 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n0: 1500 0x109151: grab (m.c:4)
#-----------
snapshot=2
#-----------
time=1500
mem_heap_B=4000
mem_heap_extra_B=96
mem_stacks_B=0
heap_tree=peak
n4: 4000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n2: 3000 0x109151: grab (m.c:4)
  n0: 2000 0x1091E3: main (m.c:10)
  n1: 1000 0x10918F: small (m.c:5)
   n0: 20 0x1091D8: main (m.c:10)
 n0: 900 0x10: ??? (in /usr/lib/libc.so.6)
 n0: 35 0x11: few (m.c:90)
 n0: 65 in 7 places, all below massif's threshold (1.00%)
#-----------
snapshot=3
#-----------
time=2500
mem_heap_B=10
mem_heap_extra_B=6
mem_stacks_B=0
heap_tree=empty
)";

const char* const kPrinted =
    R"(--------------------------------------------------------------------------------
Command:            ./server -p 80
Massif arguments:   (none)
ms_print arguments: --x=40 --y=6 gold.out
--------------------------------------------------------------------------------


    KB
4.000^                        ############### 
     |                        #               
     |                        #               
     |                        #               
     |           @@@@@@@@@@@@@#               
     |           @            #               
   0 +--------------------------------------->s
     0                                   2.500

Number of snapshots: 4
 Detailed snapshots: [1, 2 (peak)]

--------------------------------------------------------------------------------
  n       time(ms)         total(B)   useful-heap(B) extra-heap(B)    stacks(B)
--------------------------------------------------------------------------------
  0              0                0                0             0            0
  1            700            1,536            1,500            36            0
97.66% (1,500B) (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
->97.66% (1,500B) 0x109151: grab (m.c:4)
  
--------------------------------------------------------------------------------
  n       time(ms)         total(B)   useful-heap(B) extra-heap(B)    stacks(B)
--------------------------------------------------------------------------------
  2          1,500            4,096            4,000            96            0
97.66% (4,000B) (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
->73.24% (3,000B) 0x109151: grab (m.c:4)
| ->48.83% (2,000B) 0x1091E3: main (m.c:10)
| | 
| ->24.41% (1,000B) 0x10918F: small (m.c:5)
|   ->00.49% (20B) in 1+ places, all below ms_print's threshold (01.00%)
|   
->21.97% (900B) 0x10: ??? (in /usr/lib/libc.so.6)
| 
->01.59% (65B) in 7 places, all below massif's threshold (1.00%)
  
->00.85% (35B) in 1+ places, all below ms_print's threshold (01.00%)

--------------------------------------------------------------------------------
  n       time(ms)         total(B)   useful-heap(B) extra-heap(B)    stacks(B)
--------------------------------------------------------------------------------
  3          2,500               16               10             6            0
)";

std::string Print(const std::string& text, const MsPrintOptions& options) {
  const auto stream = StreamOf(text);
  const auto file = ParseMassif(stream.get(), "x");
  if (!file) return file.error().message;
  StringSink sink;
  EXPECT_TRUE(WriteMsPrint(*file, options, &sink));
  return sink.Take();
}

TEST(MsPrint, PrintsWhatMsPrintPrints) {
  MsPrintOptions options;
  options.width = 40;
  options.height = 6;
  options.arguments = "--x=40 --y=6 gold.out";
  EXPECT_EQ(Print(kFile, options), kPrinted);
}

// Unit and figure of the bytes, then of the time.
std::string Axes(const std::string& unit, const std::string& n) {
  std::istringstream text(Print("desc: x\ntime_unit: " + unit + "\nsnapshot=0\ntime=" + n +
                                    "\nmem_heap_B=" + n +
                                    "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n",
                                {}));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  if (lines.size() < 30) return "too short";
  return lines[7] + "|" + lines[8].substr(0, lines[8].find('^')) + "|" +
         lines[28].substr(lines[28].find('>') + 1) + "|" + lines[29].substr(70);
}

TEST(MsPrint, ScalesItsAxesAsMsPrintDoes) {
  EXPECT_EQ(Axes("i", "999"), "     B|  999|i|     999");
  EXPECT_EQ(Axes("i", "1000"), "    KB|0.977|ki|   0.977");
  EXPECT_EQ(Axes("B", "1023999"), "    KB|1000.0|KB|   1000.0");
  EXPECT_EQ(Axes("ms", "99999"), "    KB|97.66|s|   100.00");
  EXPECT_EQ(Axes("ms", "3599999"), "    MB|3.433|s|   3600.0");
  EXPECT_EQ(Axes("ms", "3600000"), "    MB|3.433|h|   1.000");
}

}  // namespace
}  // namespace heapgauge
